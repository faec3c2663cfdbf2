/** One event of a stream of server-sent events. */
export interface ServerEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | undefined;
}

/** Reads a stream of server-sent events by pieces as they come. */
export class EventReader {
  #rest = '';
  #event = '';
  #data: string[] = [];
  #id: string | undefined;

  push(text: string): ServerEvent[] {
    const found: ServerEvent[] = [];
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line === '') this.#end(found);
      else this.#read(line);
    }
    return found;
  }

  #read(line: string): void {
    const at = line.indexOf(':');
    if (at === 0) return;
    const field = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? '' : line.slice(at + 1).replace(/^ /, '');
    if (field === 'event') this.#event = value;
    if (field === 'data') this.#data.push(value);
    if (field === 'id') this.#id = value;
  }

  #end(found: ServerEvent[]): void {
    if (this.#data.length > 0)
      found.push({ event: this.#event || 'message', data: this.#data.join('\n'), id: this.#id });
    this.#event = '';
    this.#data = [];
  }
}
