/** Texts of events that are not complete, so that their shown parts are not shown again. */
export class ShownText {
  readonly #shown = new Map<string, string>();

  /** The next part of the event's text. */
  grow(id: string, text: string): void {
    this.#shown.set(id, (this.#shown.get(id) ?? '') + text);
  }

  /** Returns the part of the whole text that was not shown yet. */
  rest(id: string, text: string): string {
    const shown = this.#shown.get(id) ?? '';
    this.#shown.delete(id);
    return text.startsWith(shown) ? text.slice(shown.length) : text;
  }
}
