/** Follows JSON text as it comes, to find where an object that began with it is complete. */
export class JsonDepth {
  #depth = 0;
  #begun = false;
  #inString = false;
  #escaped = false;

  /** The object was opened and closed. */
  get complete(): boolean {
    return this.#begun && this.#depth <= 0;
  }

  push(text: string): void {
    for (const char of text) {
      if (this.#escaped) this.#escaped = false;
      else if (this.#inString) this.#readInString(char);
      else if (char === '"') this.#inString = true;
      else if (char === '{' || char === '[') this.#open();
      else if (char === '}' || char === ']') this.#depth--;
    }
  }

  #readInString(char: string): void {
    if (char === '\\') this.#escaped = true;
    else if (char === '"') this.#inString = false;
  }

  #open(): void {
    this.#begun = true;
    this.#depth++;
  }
}
