import type { NewEvent } from '../../sessions/log/session-event.ts';
import type { TurnLog } from '../../sessions/sessions.ts';
import type { Scrubber } from './scrubber.ts';

export type TextType = 'agent.message' | 'agent.thinking';

/** A text that is being written, shown to those who follow while it grows. */
export class OpenText {
  readonly type: TextType;
  readonly #id: string;
  readonly #log: TurnLog;
  readonly #scrubber: Scrubber;
  #text = '';
  /** The end of it that is yet to be shown. */
  #pending = '';

  constructor(type: TextType, log: TurnLog, scrubber: Scrubber) {
    this.type = type;
    this.#id = log.nextEventId();
    this.#log = log;
    this.#scrubber = scrubber;
    log.show({ type: 'event_start', event: { type, id: this.#id } });
  }

  get length(): number {
    return this.#text.length;
  }

  add(text: string): void {
    this.#text += text;
    // Thoughts are not shown in parts.
    if (this.type === 'agent.thinking') return;
    const pending = this.#pending + text;
    const length = this.#scrubber.safeLength(pending);
    this.#pending = pending.slice(length);
    this.#show(pending.slice(0, length));
  }

  /** The whole text, whatever was said so far. */
  replace(text: string): void {
    this.#text = text;
    this.#pending = '';
  }

  /** The event, and to those who follow the last of it. */
  toEvents(): NewEvent[] {
    this.#show(this.#pending);
    this.#pending = '';
    const text = this.#scrubber.text(this.#text);
    const { type } = this;
    if (text === '') return [];
    return type === 'agent.message'
      ? [{ type, id: this.#id, content: [{ type: 'text', text }] }]
      : [{ type, id: this.#id, thinking: text }];
  }

  #show(text: string): void {
    if (text === '') return;
    const content = { type: 'text', text: this.#scrubber.text(text) };
    this.#log.show({
      type: 'event_delta',
      event_id: this.#id,
      delta: { type: 'content_delta', index: 0, content },
    });
  }
}
