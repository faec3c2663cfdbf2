import type { Part, Stop } from '../../protocols/canonical/canonical.ts';
import type { CanonicalEvent, PartOpening } from '../../protocols/canonical/stream.ts';
import type { StreamFailure } from '../../protocols/protocol.ts';
import type { Usage } from '../../core/usage.ts';

/** Receives an answer while it arrives. Indexes count the parts of the answer. */
export interface AnswerListener {
  opened(index: number, part: Part): void;
  said(index: number, text: string): void;
}

/** A part while it comes: its texts and arguments grow. */
type Draft = { -readonly [Member in keyof Part]: Part[Member] } & {
  text?: string;
  arguments?: string;
  signature?: unknown;
};

/** Puts the answer of a model together from its stream. */
export class AnswerDraft {
  readonly parts: Part[] = [];
  stop: Stop | undefined;
  /** Usage so far. */
  usage: Usage | undefined;
  isEnded = false;
  failure: StreamFailure | undefined;
  readonly #listener: AnswerListener;
  readonly #maxChars: number;
  readonly #places = new Map<number, number>();
  #chars = 0;

  constructor(listener: AnswerListener, maxChars: number) {
    this.#listener = listener;
    this.#maxChars = maxChars;
  }

  take(event: CanonicalEvent): void {
    switch (event.type) {
      case 'start':
      case 'usage':
        this.usage = event.usage ?? this.usage;
        return;
      case 'open':
        this.#places.set(event.part, this.parts.push(toPart(event.opening)) - 1);
        return this.#tell(this.parts.length - 1);
      case 'delta':
        return this.#grow(event.part, event.text);
      case 'signature':
        (this.#draft(event.part) as { signature?: unknown }).signature = event.signature;
        return;
      case 'finish':
        this.stop = event.stop;
        return;
      case 'end':
        this.isEnded = true;
        return;
      case 'failure':
        this.failure = event.failure;
        return;
      case 'citation':
      case 'late_citation':
      case 'restart':
      case 'logprobs':
      case 'close':
    }
  }

  #tell(index: number): void {
    const part = this.parts[index];
    if (part) this.#listener.opened(index, part);
  }

  #grow(number: number, text: string): void {
    this.#chars += text.length;
    if (this.#chars > this.#maxChars) {
      this.failure = { kind: 'too_large', message: 'the answer of the model is too large' };
      return;
    }
    const draft = this.#draft(number);
    if (draft.type === 'tool_call') draft.arguments += text;
    else draft.text += text;
    if (draft.type === 'text') this.#listener.said(this.#places.get(number) ?? 0, text);
  }

  /** A decoder opens every part before it continues it. */
  #draft(number: number): Draft {
    return this.parts[this.#places.get(number) ?? -1] as Draft;
  }
}

function toPart(opening: PartOpening): Part {
  if (opening.type === 'opaque' || opening.type === 'image') return opening;
  return opening.type === 'tool_call' ? { arguments: '', ...opening } : { text: '', ...opening };
}
