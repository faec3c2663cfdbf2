import type { SseFrame } from '../../../core/sse-frame.ts';
import type { StreamDecoder } from '../../canonical-codec.ts';
import type { CanonicalEvent, PartOpening } from '../../canonical-stream.ts';
import type { Part, ReasoningPart } from '../../canonical.ts';
import { membersOf, textOf } from '../fields.ts';
import type { Members } from '../fields.ts';
import {
  blockReasonOf,
  candidatesOf,
  finishReasonOf,
  partsOf,
  toChunkFailure,
} from '../generate-content-chunk.ts';
import { toGenerateContentUsage } from '../generate-content-usage.ts';
import { readGrounding, toCitation } from './grounding.ts';
import { readLogprobs } from './logprobs.ts';
import { idsOf, parseAnswer, readBlock } from './read-answer.ts';
import { readPart } from './read-part.ts';
import type { PartIds } from './read-part.ts';
import { readFinishReason } from './stop-reason.ts';
import { TextOffsets } from './text-offsets.ts';

export function createGenerateContentDecoder(): StreamDecoder {
  return new GenerateContentDecoder();
}

/** Sources that were told once are not told again; this many are remembered. */
const MAX_SOURCES = 1000;

/**
 * Reads a stream of answers. Texts and thoughts grow from chunk to chunk, calls come whole, and the
 * finish is told when the connection closes, for the protocol has no other end.
 */
class GenerateContentDecoder implements StreamDecoder {
  #ids: PartIds | undefined;
  #parts = 0;
  /** The part that may still grow. */
  #growing: 'text' | 'reasoning' | undefined;
  #offsets = new TextOffsets();
  readonly #sources = new Set<string>();
  #called = false;
  #reason: string | undefined;
  #blocked: string | undefined;

  read(frame: SseFrame): readonly CanonicalEvent[] {
    const text = frame.data?.trim() ?? '';
    if (text === '' || text === '[DONE]') return [];
    const value = parseAnswer(text);
    const failure = value
      ? toChunkFailure(value)
      : ({ kind: 'malformed', message: 'an event of the provider is not JSON' } as const);
    if (!value || failure) return failure ? [{ type: 'failure', failure }] : [];
    return [...this.#start(value, text), ...this.#chunk(value)];
  }

  close(): readonly CanonicalEvent[] {
    const stop =
      this.#blocked === undefined
        ? this.#reason === undefined
          ? undefined
          : readFinishReason(this.#reason, this.#called)
        : { kind: 'refusal' as const, raw: this.#blocked };
    if (stop) return [...this.#close(), { type: 'finish', stop }, { type: 'end' }];
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
    const usage = toGenerateContentUsage(value['usageMetadata']);
    return usage ? [...events, { type: 'usage', usage }] : events;
  }

  #candidate(candidate: Members): CanonicalEvent[] {
    const ids = this.#ids as PartIds;
    const parts = partsOf(candidate).flatMap((part) => readPart(part, ids));
    const events = parts.flatMap((part) => this.#part(part));
    this.#reason = finishReasonOf(candidate) ?? this.#reason;
    return [...events, ...this.#notes(candidate)];
  }

  /** Sources and probabilities of the text that is growing. */
  #notes(candidate: Members): CanonicalEvent[] {
    if (this.#growing !== 'text') return [];
    const part = this.#parts - 1;
    const events: CanonicalEvent[] = [];
    const logprobs = readLogprobs(membersOf(candidate, 'logprobsResult'));
    if (logprobs.length > 0) events.push({ type: 'logprobs', part, logprobs });
    for (const one of readGrounding(candidate)) {
      const key = JSON.stringify([one.url, one.start, one.end]);
      if (this.#sources.has(key) || this.#sources.size >= MAX_SOURCES) continue;
      this.#sources.add(key);
      events.push({ type: 'citation', part, citation: toCitation(one, this.#offsets) });
    }
    return events;
  }

  #part(part: Part): CanonicalEvent[] {
    switch (part.type) {
      case 'text':
        return this.#text(part.text);
      case 'reasoning':
        return this.#reasoning(part);
      case 'refusal':
        return this.#whole({ type: 'refusal' }, part.text);
      case 'tool_call':
        this.#called = true;
        return this.#whole({ type: 'tool_call', id: part.id, name: part.name }, part.arguments);
      case 'opaque':
        return this.#whole(part);
      // No part of a stream's canonical form.
      case 'image':
      case 'document':
      case 'audio':
      case 'tool_result':
    }
    return this.#whole({ type: 'opaque', origin: 'generate-content', value: part });
  }

  #text(text: string): CanonicalEvent[] {
    const opened = this.#growing === 'text' ? [] : this.#open({ type: 'text' });
    this.#growing = 'text';
    this.#offsets.add(text);
    return [...opened, { type: 'delta', part: this.#parts - 1, text }];
  }

  #reasoning({ text, signature, ofNext }: ReasoningPart): CanonicalEvent[] {
    const grows = this.#growing === 'reasoning' && !ofNext;
    const events = grows ? [] : this.#open({ type: 'reasoning', ...(ofNext && { ofNext }) });
    this.#growing = 'reasoning';
    const part = this.#parts - 1;
    if (text !== '') events.push({ type: 'delta', part, text });
    if (signature) events.push({ type: 'signature', part, signature }, ...this.#close());
    return events;
  }

  #whole(opening: PartOpening, text = ''): CanonicalEvent[] {
    const events = this.#open(opening);
    const part = this.#parts - 1;
    if (text !== '') events.push({ type: 'delta', part, text });
    return [...events, { type: 'close', part }];
  }

  /** Closes what grows and opens the next part. */
  #open(opening: PartOpening): CanonicalEvent[] {
    const closed = this.#close();
    this.#offsets = new TextOffsets();
    return [...closed, { type: 'open', part: this.#parts++, opening }];
  }

  #close(): CanonicalEvent[] {
    if (this.#growing === undefined) return [];
    this.#growing = undefined;
    return [{ type: 'close', part: this.#parts - 1 }];
  }
}
