import type { Protocol } from '../registry.ts';
import type { AnswerEvent } from './stream.ts';
import type { Part } from './canonical.ts';

export interface Reader {
  readonly id: Protocol;
  /** Kinds of parts that its answers cannot hold. Default: none. */
  readonly unshown?: ReadonlySet<Part['type']> | undefined;
}

/**
 * The parts without the signatures of parts that the reader is not shown: a client would send them
 * back on another part, which they do not prove.
 */
export function withOwnedSignatures(parts: readonly Part[], reader: Reader): Part[] {
  return parts.filter((part, index) => {
    const isOfNext = part.type === 'reasoning' && part.ofNext === true;
    const next = isOfNext ? parts[index + 1] : undefined;
    return !next || isShown(next, reader);
  });
}

function isShown(part: Part, { id, unshown }: Reader): boolean {
  if (part.type === 'opaque') return part.origin === id;
  return !unshown?.has(part.type);
}

/** The same for a stream that is in order: a signature waits for the part that it belongs to. */
export class OwnedSignatures {
  readonly #reader: Reader;
  #waiting: AnswerEvent[] = [];
  /** The part whose events wait. */
  #part: number | undefined;

  constructor(reader: Reader) {
    this.#reader = reader;
  }

  /** The events that may be written now. */
  push(event: AnswerEvent): AnswerEvent[] {
    if (event.type === 'usage') return [event];
    if (event.type === 'open') {
      const { opening, part } = event;
      if (opening.type === 'reasoning' && opening.ofNext) {
        this.#part = part;
        this.#waiting.push(event);
        return [];
      }
      const isWhole = opening.type === 'opaque' || opening.type === 'image';
      if (isWhole && !isShown(opening, this.#reader)) this.#waiting = [];
    } else if ('part' in event && event.part === this.#part) {
      this.#waiting.push(event);
      return [];
    }
    return this.#waiting.length === 0 ? [event] : [...this.#release(), event];
  }

  #release(): AnswerEvent[] {
    const events = this.#waiting;
    this.#waiting = [];
    this.#part = undefined;
    return events;
  }
}
