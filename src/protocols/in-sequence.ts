import type { AnswerEvent, PartEvent } from './canonical/stream.ts';

/** Characters of what waits, with a charge for every event. */
const MAX_HELD = 8 * 1024 * 1024;
const EVENT_SIZE = 64;

/**
 * Puts interleaved parts in sequence: events of the part that was opened first pass at once, those
 * of later parts are pending until it is closed. A decoder whose tool calls have no end event
 * closes one when its arguments are complete and another part begins: in practice nothing waits.
 */
export class InSequence {
  /** More is pending than may be held; the output is no longer complete. */
  overflowed = false;
  #held = 0;
  readonly #waiting = new Map<number, PartEvent[]>();
  #current: number | undefined;

  /** The events that may be written now. */
  push(event: AnswerEvent): AnswerEvent[] {
    if ('part' in event) return this.#take(event);
    return event.type === 'finish' ? [...this.#closeAll(), event] : [event];
  }

  #take(event: PartEvent): AnswerEvent[] {
    if (this.#current === undefined) this.#current = event.part;
    if (event.part !== this.#current) {
      this.#held += sizeOf(event);
      this.overflowed ||= this.#held > MAX_HELD;
      if (this.overflowed) return [];
      const queue = this.#waiting.get(event.part);
      if (queue) queue.push(event);
      else this.#waiting.set(event.part, [event]);
      return [];
    }
    return event.type === 'close' ? [event, ...this.#next()] : [event];
  }

  /** The events of the pending parts, up to and with the first that is not complete. */
  #next(): AnswerEvent[] {
    this.#current = undefined;
    const out: AnswerEvent[] = [];
    for (const [part, queue] of this.#waiting) {
      this.#waiting.delete(part);
      for (const event of queue) {
        this.#held -= sizeOf(event);
        out.push(event);
      }
      if (queue.at(-1)?.type === 'close') continue;
      this.#current = part;
      break;
    }
    return out;
  }

  #closeAll(): AnswerEvent[] {
    const out: AnswerEvent[] = [];
    while (this.#current !== undefined)
      out.push({ type: 'close', part: this.#current }, ...this.#next());
    return out;
  }
}

function sizeOf(event: PartEvent): number {
  if (event.type === 'delta') return EVENT_SIZE + event.text.length;
  return EVENT_SIZE + (event.type === 'signature' ? event.signature.value.length : 0);
}
