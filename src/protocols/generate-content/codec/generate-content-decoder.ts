import { atOnce } from '../../../core/turns/in-turns.ts';
import type { SseFrame } from '../../../core/sse/frame.ts';
import type { Usage } from '../../../core/usage.ts';
import type { StreamDecoder } from '../../canonical/codec.ts';
import type { CanonicalEvent, PartOpening } from '../../canonical/stream.ts';
import type { Part, ReasoningPart, Signature } from '../../canonical/canonical.ts';
import { membersOf, textOf } from '../fields.ts';
import type { Members } from '../fields.ts';
import {
  blockReasonOf,
  candidatesOf,
  finishReasonOf,
  hasThought,
  partsOf,
  toChunkFailure,
} from '../generate-content-chunk.ts';
import { joinUsage } from '../generate-content-usage.ts';
import { CallPieces } from '../partial-args.ts';
import { readGrounding, toCitation } from './answer/grounding.ts';
import type { Grounding } from './answer/grounding.ts';
import { readLogprobs } from './answer/logprobs.ts';
import { idsOf, parseAnswer, readBlock } from './answer/read-answer.ts';
import { readPart } from './read-part.ts';
import type { PartIds } from './read-part.ts';
import { readFinishReason } from './answer/stop-reason.ts';
import { TextOffsets } from './answer/text-offsets.ts';

export function createGenerateContentDecoder(): StreamDecoder {
  return new GenerateContentDecoder();
}

/** Most sources that are remembered, so that none is reported twice. */
const MAX_SOURCES = 1000;

/**
 * Reads a stream of answers. Texts and thoughts grow from chunk to chunk, calls come whole, and the
 * finish is reported when the connection closes, for the protocol has no other end.
 */
class GenerateContentDecoder implements StreamDecoder {
  isThinking = false;
  #ids: PartIds | undefined;
  #parts = 0;
  /** Kind of the last part, while it may still grow. */
  #growing: 'text' | 'reasoning' | undefined;
  /** The text that is open still, for its sources may come after the signature that follows it. */
  #text: AnswerText | undefined;
  /** Texts by their positions. */
  readonly #texts = new Map<number, AnswerText>();
  /** Parts so far, as a whole answer would count them: a signature is on its part. */
  #places = 0;
  readonly #pieces = new CallPieces();
  readonly #sources = new Set<string>();
  /** Sources that wait for the end of their text. */
  #groundings: Grounding[] = [];
  #called = false;
  #reason: string | undefined;
  #blocked: string | undefined;
  /** As counted so far. */
  #usage: Usage | undefined;

  read(frame: SseFrame): readonly CanonicalEvent[] {
    const text = frame.data?.trim() ?? '';
    if (text === '' || text === '[DONE]') return [];
    const value = parseAnswer(text);
    const failure = value
      ? toChunkFailure(value)
      : ({ kind: 'malformed', message: 'an event of the provider is not JSON' } as const);
    if (!value || failure) return failure ? [{ type: 'failure', failure }] : [];
    this.isThinking ||= hasThought(value);
    return [...this.#start(value, text), ...this.#chunk(value)];
  }

  close(): readonly CanonicalEvent[] {
    const events = this.#ids ? this.#wireParts(this.#pieces.flush()) : [];
    const stop =
      this.#blocked === undefined
        ? this.#reason === undefined
          ? undefined
          : readFinishReason(this.#reason, this.#called)
        : { kind: 'refusal' as const, raw: this.#blocked };
    if (stop) return [...events, ...this.#close(), { type: 'finish', stop }, { type: 'end' }];
    const message = 'the stream of the provider ended early';
    return [{ type: 'failure', failure: { kind: 'truncated', message } }];
  }

  #start(value: Members, text: string): CanonicalEvent[] {
    if (this.#ids) return [];
    this.#ids = idsOf(text);
    return [{ type: 'start', id: textOf(value, 'responseId') }];
  }

  #chunk(value: Members): CanonicalEvent[] {
    const [candidate] = candidatesOf(value).filter(({ index }) => !index);
    const events = candidate ? this.#candidate(candidate) : [];
    const blocked = blockReasonOf(value);
    if (blocked !== undefined && this.#blocked === undefined) {
      this.#blocked = blocked;
      for (const part of readBlock(value)) events.push(...this.#part(part));
    }
    const usage = joinUsage(this.#usage, value);
    this.#usage = usage;
    return usage && 'usageMetadata' in value ? [...events, { type: 'usage', usage }] : events;
  }

  #candidate(candidate: Members): CanonicalEvent[] {
    const groundings = this.#news(candidate);
    if (this.#text) this.#groundings.push(...groundings.splice(0));
    const parts = partsOf(candidate).flatMap((part) => this.#pieces.take(part));
    const events = this.#wireParts(parts);
    this.#reason = finishReasonOf(candidate) ?? this.#reason;
    const logprobs = atOnce(readLogprobs(membersOf(candidate, 'logprobsResult')));
    if (this.#text && logprobs.length > 0)
      events.push({ type: 'logprobs', part: this.#text.part, logprobs });
    if (this.#text || this.#texts.size === 0) this.#groundings.push(...groundings);
    else events.push(...groundings.map((one) => this.#citeLate(one)));
    return events;
  }

  /** The sources that were not reported before. */
  #news(candidate: Members): Grounding[] {
    return readGrounding(candidate).filter((one) => {
      const key = JSON.stringify([one.url, one.start, one.end, one.part]);
      if (this.#sources.has(key) || this.#sources.size >= MAX_SOURCES) return false;
      this.#sources.add(key);
      return true;
    });
  }

  #wireParts(parts: readonly Members[]): CanonicalEvent[] {
    const ids = this.#ids as PartIds;
    return parts.flatMap((part) => readPart(part, ids)).flatMap((part) => this.#part(part));
  }

  #part(part: Part): CanonicalEvent[] {
    switch (part.type) {
      case 'text':
        return this.#grow(part.text);
      case 'reasoning':
        return this.#reasoning(part);
      case 'refusal':
        return this.#whole({ type: 'refusal' }, part.text);
      case 'tool_call':
        this.#called = true;
        return this.#whole({ type: 'tool_call', id: part.id, name: part.name }, part.arguments);
      case 'image':
      case 'opaque':
        return this.#whole(part);
      // No part of a stream's canonical form.
      case 'document':
      case 'audio':
      case 'tool_result':
    }
    return this.#whole({ type: 'opaque', origin: 'generate-content', value: part });
  }

  #grow(text: string): CanonicalEvent[] {
    const opened = this.#growing === 'text' ? [] : this.#open({ type: 'text' });
    const part = this.#parts - 1;
    this.#growing = 'text';
    if (!this.#text) {
      this.#text = { part, offsets: new TextOffsets() };
      if (this.#texts.size < MAX_SOURCES) this.#texts.set(this.#places - 1, this.#text);
    }
    this.#text.offsets.add(text);
    return [...opened, { type: 'delta', part, text }];
  }

  #reasoning({ text, signature, ofNext }: ReasoningPart): CanonicalEvent[] {
    const isAlone = text === '' && !ofNext && this.#text !== undefined;
    if (isAlone && signature) return this.#signAlone(signature);
    const grows = this.#growing === 'reasoning' && !ofNext;
    const events = grows ? [] : this.#open({ type: 'reasoning', ...(ofNext && { ofNext }) });
    if (ofNext) this.#places--;
    this.#growing = 'reasoning';
    const part = this.#parts - 1;
    if (text !== '') events.push({ type: 'delta', part, text });
    if (signature) events.push({ type: 'signature', part, signature }, ...this.#close());
    return events;
  }

  /** A signature without a part of its own; the text before it stays open. */
  #signAlone(signature: Signature): CanonicalEvent[] {
    this.#growing = undefined;
    const part = this.#parts++;
    this.#places++;
    return [
      { type: 'open', part, opening: { type: 'reasoning' } },
      { type: 'signature', part, signature },
      { type: 'close', part },
    ];
  }

  #whole(opening: PartOpening, text = ''): CanonicalEvent[] {
    const events = this.#open(opening);
    const part = this.#parts - 1;
    if (text !== '') events.push({ type: 'delta', part, text });
    return [...events, { type: 'close', part }];
  }

  /** Closes the open part and opens the next one. */
  #open(opening: PartOpening): CanonicalEvent[] {
    const closed = this.#close();
    this.#places++;
    return [...closed, { type: 'open', part: this.#parts++, opening }];
  }

  #close(): CanonicalEvent[] {
    const grown = this.#growing;
    this.#growing = undefined;
    if (this.#text) return this.#closeText(this.#text);
    return grown === undefined ? [] : [{ type: 'close', part: this.#parts - 1 }];
  }

  #closeText(text: AnswerText): CanonicalEvent[] {
    const { part, offsets } = text;
    const events = this.#groundings.splice(0).map((one): CanonicalEvent => {
      const isOwn = this.#textOf(one, text) === text;
      return isOwn
        ? { type: 'citation', part, citation: toCitation(one, offsets) }
        : this.#citeLate(one);
    });
    this.#text = undefined;
    return [...events, { type: 'close', part }];
  }

  /** A source of a text that is closed. */
  #citeLate(grounding: Grounding): CanonicalEvent {
    const last = [...this.#texts.values()].at(-1) as AnswerText;
    const { part, offsets } = this.#textOf(grounding, last);
    return { type: 'late_citation', text: part, citation: toCitation(grounding, offsets) };
  }

  /** The text that a source names, or the one that is given where it names none. */
  #textOf({ part }: Grounding, otherwise: AnswerText): AnswerText {
    return (part === undefined ? undefined : this.#texts.get(part)) ?? otherwise;
  }
}

/** A text of the answer, as sources refer to it. */
interface AnswerText {
  readonly part: number;
  readonly offsets: TextOffsets;
}
