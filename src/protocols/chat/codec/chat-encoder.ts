import { Buffer } from 'node:buffer';
import { atOnce } from '../../../core/turns/in-turns.ts';
import { formatSse } from '../../../core/sse/frame.ts';
import { NO_USAGE } from '../../../core/usage.ts';
import type { Usage } from '../../../core/usage.ts';
import type { AnswerContext, StreamEncoder } from '../../canonical/codec.ts';
import type { AnswerEvent, PartOpening } from '../../canonical/stream.ts';
import type { Citation, Signature } from '../../canonical/canonical.ts';
import type { Feature } from '../../features.ts';
import { writeCitation, writeLogprobs } from './annotations.ts';
import { writeFinishReason } from './finish-reason.ts';
import { signedDetail } from './reasoning-details.ts';
import { isLegacy, ownerOf } from './write-answer.ts';
import { writeChatUsage } from '../chat-usage.ts';

export function createChatEncoder(context: AnswerContext): StreamEncoder {
  return new ChatEncoder(context);
}

/** Position of a text in the whole content, in characters. */
interface TextPlace {
  readonly shift: number;
  length: number;
}

/** Most characters of sources that wait for the end of the answer. */
const MAX_SOURCE_CHARS = 1024 * 1024;
const DONE = formatSse({ data: '[DONE]' });
const CHOICE_OF_DELTA = '"choices":[{"index":0,"logprobs":null,"finish_reason":null,"delta":';

/** Writes chunks under one id: role, deltas, finish reason, usage where asked for, `[DONE]`. */
class ChatEncoder implements StreamEncoder {
  readonly losses = new Set<Feature>();
  readonly #context: AnswerContext;
  /** The members of every chunk before `choices`, as JSON that is still open. */
  #head: string;
  #opening: PartOpening | undefined;
  /** The growing part showed something. */
  #shown = false;
  /** Characters of all parts. */
  #size = 0;
  #calls = 0;
  #details = 0;
  #text: TextPlace = { shift: 0, length: 0 };
  /** Texts by the numbers of their parts. */
  readonly #texts = new Map<number, TextPlace>();
  /** Sources and their texts, sent at once: official clients do not append a second list. */
  readonly #sources: { readonly citation: Citation; readonly place: TextPlace }[] = [];
  #sourceChars = 0;
  /** Waits for the part that it belongs to. */
  #waiting: Signature[] = [];
  #usage: Usage | undefined;

  constructor(context: AnswerContext) {
    this.#context = context;
    this.#head = this.#headOf(context);
  }

  write(event: AnswerEvent): Buffer | undefined {
    switch (event.type) {
      case 'start':
        this.#head = this.#headOf({
          id: event.id ?? this.#context.id,
          created: event.created ?? this.#context.created,
        });
        this.#usage = event.usage;
        return this.#delta({ role: 'assistant', content: '', refusal: null });
      case 'open':
        return this.#open(event.part, event.opening);
      case 'delta':
        return this.#grow(event.text);
      case 'signature':
        return this.#sign(event.signature);
      case 'citation':
        return this.#cite(event.citation, this.#text);
      case 'late_citation':
        return this.#cite(event.citation, this.#texts.get(event.text) ?? this.#text);
      case 'logprobs':
        return this.#chunk({ delta: {}, logprobs: atOnce(writeLogprobs(event.logprobs)) });
      case 'close':
        return this.#close();
      case 'finish':
        return join(
          this.#tellSources(),
          this.#chunk({
            delta: {},
            finish_reason: writeFinishReason(event.stop, isLegacy(this.#context)),
          }),
        );
      case 'usage':
        this.#usage = event.usage;
        return undefined;
      case 'end':
    }
    return this.#end();
  }

  #headOf({ id, created }: { id: string; created: number }): string {
    const { model } = this.#context;
    return JSON.stringify({ id, object: 'chat.completion.chunk', created, model }).slice(0, -1);
  }

  #open(part: number, opening: PartOpening): Buffer | undefined {
    this.#opening = opening;
    this.#shown = false;
    if (opening.type === 'text') {
      this.#text = { shift: this.#text.shift + this.#text.length, length: 0 };
      this.#texts.set(part, this.#text);
    }
    const owned = opening.type === 'reasoning' ? undefined : this.#signWaiting(opening);
    if (opening.type === 'opaque') this.losses.add('builtin_tools');
    if (opening.type === 'image') this.losses.add('images');
    if (opening.type !== 'tool_call') return owned;
    this.#calls++;
    return join(owned, this.#beginCall(opening));
  }

  #beginCall({
    id,
    name,
    custom,
  }: Extract<PartOpening, { type: 'tool_call' }>): Buffer | undefined {
    const called = { name, arguments: '' };
    if (isLegacy(this.#context)) return this.#legacy(called);
    const index = this.#calls - 1;
    const call = custom
      ? { index, id, type: 'custom', custom: { name, input: '' } }
      : { index, id, type: 'function', function: called };
    return this.#delta({ tool_calls: [call] });
  }

  /** `function_call` holds one call. */
  #legacy(called: object): Buffer | undefined {
    if (this.#calls === 1) return this.#delta({ function_call: called });
    this.losses.add('parallel_tool_calls');
    return undefined;
  }

  #grow(text: string): Buffer | undefined {
    if (text === '') return undefined;
    this.#shown = true;
    this.#size += text.length;
    switch (this.#opening?.type) {
      case 'text':
        this.#text.length += text.length;
        return this.#written(`{"content":${JSON.stringify(text)}}`);
      case 'refusal':
        return this.#delta({ refusal: text });
      case 'tool_call':
        return this.#arguments(text, this.#opening.custom);
      case 'reasoning': {
        const detail = { type: 'reasoning.text', text, index: this.#details };
        return this.#delta({ reasoning_content: text, reasoning_details: [detail] });
      }
      case 'image':
      case 'opaque':
      case undefined:
    }
    return undefined;
  }

  #arguments(text: string, custom?: true): Buffer | undefined {
    if (isLegacy(this.#context)) return this.#legacy({ arguments: text });
    const piece = custom ? { custom: { input: text } } : { function: { arguments: text } };
    return this.#delta({ tool_calls: [{ index: this.#calls - 1, ...piece }] });
  }

  #sign(signature: Signature): Buffer | undefined {
    const opening = this.#opening;
    if (opening?.type === 'reasoning' && opening.ofNext) {
      this.#waiting.push(signature);
      return undefined;
    }
    // The text was sent before, in entries of the same index.
    const text = this.#shown ? '' : undefined;
    const detail = signedDetail({ signature, text }, { index: this.#details });
    return this.#delta({ reasoning_details: [detail] });
  }

  #signWaiting(opening: PartOpening): Buffer | undefined {
    if (this.#waiting.length === 0) return undefined;
    const details = this.#waiting.map((signature) =>
      signedDetail(
        { signature, text: undefined },
        { index: this.#details++, of: ownerOf(opening) },
      ),
    );
    this.#waiting = [];
    return this.#delta({ reasoning_details: details });
  }

  #close(): Buffer | undefined {
    const opening = this.#opening;
    this.#opening = undefined;
    if (opening?.type === 'reasoning') this.#details++;
    // Clients parse the arguments of every call.
    const isBare = opening?.type === 'tool_call' && !opening.custom && !this.#shown;
    return isBare ? this.#arguments('{}') : undefined;
  }

  #cite(citation: Citation, place: TextPlace): undefined {
    const { url, title = '', quote = '' } = citation;
    this.#sourceChars += url.length + title.length + quote.length;
    if (this.#sourceChars > MAX_SOURCE_CHARS) this.losses.add('citations');
    else this.#sources.push({ citation, place });
  }

  #tellSources(): Buffer | undefined {
    if (this.#sources.length === 0) return undefined;
    const annotations = this.#sources.map(({ citation, place }) => writeCitation(citation, place));
    return this.#delta({ annotations });
  }

  #end(): Buffer {
    const { keepUsage, estimateUsage } = this.#context;
    if (!keepUsage) return DONE;
    const usage = this.#usage ?? estimateUsage?.(this.#size) ?? NO_USAGE;
    const told = JSON.stringify(writeChatUsage(usage));
    return Buffer.concat([
      formatSse({ data: `${this.#head},"choices":[],"usage":${told}}` }),
      DONE,
    ]);
  }

  #delta(delta: object): Buffer {
    return this.#written(JSON.stringify(delta));
  }

  /** A chunk around a delta of JSON: nearly all are such, and only their deltas differ. */
  #written(delta: string): Buffer {
    return formatSse({ data: `${this.#head},${CHOICE_OF_DELTA}${delta}}]}` });
  }

  #chunk(choice: object): Buffer {
    const whole = JSON.stringify({ index: 0, logprobs: null, finish_reason: null, ...choice });
    return formatSse({ data: `${this.#head},"choices":[${whole}]}` });
  }
}

function join(first: Buffer | undefined, second: Buffer | undefined): Buffer | undefined {
  return first && second ? Buffer.concat([first, second]) : (first ?? second);
}
