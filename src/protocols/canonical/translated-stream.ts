import type { Buffer } from 'node:buffer';
import type { SseBatch } from '../../core/sse/batch.ts';
import type { SseFrame } from '../../core/sse/frame.ts';
import { withOwnName } from '../capabilities/name-bounds.ts';
import type { OwnNames } from '../capabilities/name-bounds.ts';
import { bindSignature, UnsignedReasoning } from './bound-reasoning.ts';
import type { Thinker } from './bound-reasoning.ts';
import type { StreamDecoder, StreamEncoder } from './codec.ts';
import type { AnswerEvent, CanonicalEvent, PartOpening } from './stream.ts';
import { CustomCalls } from './custom-calls.ts';
import { EventStream } from '../event-stream.ts';
import type { FeatureFields } from '../features.ts';
import { InSequence } from '../in-sequence.ts';
import { OwnedSignatures } from './owned-signatures.ts';
import type { Reader } from './owned-signatures.ts';
import type { InBandError } from '../protocol.ts';
import type { UniqueIds } from './unique-ids.ts';

export interface TranslatedStreamOptions {
  decoder: StreamDecoder;
  /** Makes the writer of the client's stream; once more where the provider begins again. */
  createEncoder(): StreamEncoder;
  provider: Thinker;
  client: Reader;
  /** Names of the client's custom tools. Default none. */
  custom?: ReadonlySet<string> | undefined;
  /** Default: every tool was sent by its own name. */
  names?: OwnNames | undefined;
  /** Makes the ids of calls; once more where the provider begins again. */
  createIds(): UniqueIds;
  /** The client's names of features. */
  fields: FeatureFields;
}

/** Parts that are content as soon as they begin. */
const IS_CONTENT: ReadonlySet<PartOpening['type']> = new Set(['tool_call', 'image', 'opaque']);

/** One provider's stream, event by event, in the client's protocol. */
export class TranslatedStream extends EventStream {
  readonly #options: TranslatedStreamOptions;
  #encoder: StreamEncoder;
  #sequence = new InSequence();
  #unsigned: UnsignedReasoning;
  #signatures: OwnedSignatures;
  #custom: CustomCalls;
  #ids: UniqueIds;

  constructor(options: TranslatedStreamOptions) {
    super();
    this.#options = options;
    this.#encoder = options.createEncoder();
    this.#unsigned = new UnsignedReasoning(options.provider.protocol);
    this.#signatures = new OwnedSignatures(options.client);
    this.#custom = new CustomCalls(options.custom);
    this.#ids = options.createIds();
  }

  get losses(): readonly string[] {
    const { fields } = this.#options;
    return [...new Set([...this.#encoder.losses].map((feature) => fields[feature] ?? feature))];
  }

  errorFrame(error: InBandError): Buffer | undefined {
    return this.#encoder.errorFrame?.(error);
  }

  protected read(frame: SseFrame, out: SseBatch): void {
    try {
      const { decoder } = this.#options;
      this.#takeAll(decoder.read(frame), out);
      this.thinking ||= decoder.isThinking === true;
    } catch (thrown) {
      if (!isTooDeep(thrown)) throw thrown;
      this.fail('malformed', 'an event of the provider is nested too deeply');
    }
  }

  protected close(out: SseBatch): void {
    this.#takeAll(this.#options.decoder.close(), out);
    if (!this.isOver()) this.fail('truncated', 'the stream of the provider ended early');
  }

  /** Decoders parse whole events, so one that was cut shows there. */
  protected isWhole(): boolean {
    return true;
  }

  #takeAll(events: readonly CanonicalEvent[], out: SseBatch): void {
    for (const event of events) {
      if (this.isOver()) return;
      if (event.type === 'failure') this.failure = event.failure;
      else if (event.type === 'restart') this.#restart(out);
      else this.#take(this.#bind(event), out);
    }
  }

  /** Begins the answer again, unless the client has a part of it, which cannot be taken back. */
  #restart(out: SseBatch): void {
    if (this.contentSeen)
      return this.fail('malformed', 'the provider began another answer in the same stream');
    this.beginAnew(out);
    this.#encoder = this.#options.createEncoder();
    this.#sequence = new InSequence();
    this.#unsigned = new UnsignedReasoning(this.#options.provider.protocol);
    this.#signatures = new OwnedSignatures(this.#options.client);
    this.#custom = new CustomCalls(this.#options.custom);
    this.#ids = this.#options.createIds();
  }

  #bind(event: AnswerEvent): AnswerEvent {
    if (event.type === 'open' && event.opening.type === 'tool_call') {
      const opening = withOwnName(event.opening, this.#options.names);
      return { ...event, opening: { ...opening, id: this.#ids.take(opening.id) } };
    }
    if (event.type !== 'signature') return event;
    return { ...event, signature: bindSignature(event.signature, this.#options.provider) };
  }

  #take(event: AnswerEvent, out: SseBatch): void {
    if (event.type === 'open' && event.opening.type === 'tool_call' && event.opening.name === '')
      return this.fail('malformed', 'the provider called a tool without a name');
    this.#note(event);
    if (this.failure) return;
    // Nested loops cost a fraction of `flatMap`, and nearly every event passes by itself.
    for (const ordered of this.#sequence.push(event)) {
      const told = this.#unsigned.before(ordered);
      if (told) this.#pass(told, out);
      this.#pass(ordered, out);
    }
    if (this.#sequence.overflowed) this.fail('too_large', 'the provider mixes too many parts');
    else if (event.type === 'end') this.ended = true;
  }

  #pass(event: AnswerEvent, out: SseBatch): void {
    for (const owned of this.#signatures.push(event))
      for (const ready of this.#custom.push(owned)) this.#write(ready, out);
  }

  #write(event: AnswerEvent, out: SseBatch): void {
    const bytes = this.#encoder.write(event);
    if (bytes) out.addBytes(bytes);
  }

  #note(event: AnswerEvent): void {
    if (event.type === 'delta') {
      this.outputChars += event.text.length;
      this.contentSeen ||= event.text !== '';
    } else if (event.type === 'open') {
      this.contentSeen ||= IS_CONTENT.has(event.opening.type);
      this.thinking ||= event.opening.type === 'reasoning';
    } else if (event.type === 'finish') this.contentSeen = true;
    else if (event.type === 'start' || event.type === 'usage')
      this.usage = event.usage ?? this.usage;
    else if (event.type === 'end' && !this.contentSeen)
      this.fail('truncated', 'the provider ended without an answer');
  }
}

/** JSON that is nested deeper than the stack is read but cannot be written again. */
export function isTooDeep(thrown: unknown): boolean {
  return thrown instanceof RangeError;
}
