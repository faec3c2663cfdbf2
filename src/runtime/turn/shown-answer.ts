import type { Part } from '../../protocols/canonical/canonical.ts';
import type { AnswerListener } from './answer-draft.ts';
import type { TurnJournal } from './turn-journal.ts';

/** Shows an answer on its way to those who follow, under the ids that its events will have. */
export class ShownAnswer implements AnswerListener {
  readonly #journal: TurnJournal;
  readonly #ids = new Map<number, string>();
  readonly #types: Part['type'][] = [];

  constructor(journal: TurnJournal) {
    this.#journal = journal;
  }

  opened(index: number, { type }: Part): void {
    this.#types[index] = type;
    if (type === 'reasoning') this.#start('agent.thinking', index);
    // A text after a text continues its message.
    if (type === 'text' && this.#types[index - 1] !== 'text') this.#start('agent.message', index);
  }

  said(index: number, text: string): void {
    const first = this.#firstOf(index);
    const content = { type: 'text', text };
    this.#journal.show({
      type: 'event_delta',
      event_id: this.idOf(first),
      delta: { type: 'content_delta', index: index - first, content },
    });
  }

  /** Id of the event that begins with that part. */
  idOf(index: number): string {
    const known = this.#ids.get(index);
    if (known !== undefined) return known;
    const id = this.newId();
    this.#ids.set(index, id);
    return id;
  }

  newId(): string {
    return this.#journal.log.nextEventId();
  }

  #start(type: 'agent.message' | 'agent.thinking', index: number): void {
    this.#journal.show({ type: 'event_start', event: { type, id: this.idOf(index) } });
  }

  #firstOf(index: number): number {
    let first = index;
    while (first > 0 && this.#types[first - 1] === 'text') first--;
    return first;
  }
}
