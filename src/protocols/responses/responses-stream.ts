import { Buffer } from 'node:buffer';
import { isJsonObject, parseJsonObject } from '../../core/json/value.ts';
import { toPublicMessage } from '../../core/redact.ts';
import { formatSse } from '../../core/sse/frame.ts';
import type { SseBatch } from '../../core/sse/batch.ts';
import type { SseFrame } from '../../core/sse/frame.ts';
import { EventStream } from '../event-stream.ts';
import type {
  InBandError,
  ProviderWork,
  RequestPeek,
  StreamOptions,
  StreamReader,
} from '../protocol.ts';
import { OutputPlaces } from './output-places.ts';
import { EVENTS } from './public/event-shapes.ts';
import { keepPublic } from './public/keep-public.ts';
import type { Slots } from './public/keep-public.ts';
import { publicSlots } from './public/public-slots.ts';
import type { Shape } from './public/shape.ts';
import { hasContent, isOfReasoning, toErrorEvent } from './responses-event.ts';
import { toResponsesFailure } from './responses-failure.ts';
import { isStored, toWork } from './responses-answer.ts';
import { measureItems } from './responses-output.ts';
import { MAX_PINS, pinsOfAnswer } from './responses-pins.ts';
import { usageOfResponse } from './responses-usage.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * Reads a Responses stream and passes on its public events with their public members (contract:
 * Responses). Every event is parsed, for none that is broken may reach the client.
 */
export function createResponsesStream(options: StreamOptions): StreamReader {
  return new ResponsesStream(options);
}

class ResponsesStream extends EventStream {
  readonly pins: string[] = [];
  work: ProviderWork | undefined;
  readonly #peek: RequestPeek;
  readonly #places = new OutputPlaces();
  /** The next one that the client may expect. */
  #sequence = 0;
  /** False once the Response says that its provider does not store it. */
  #store: unknown;
  /** Last event of the provider itself. */
  #farewell: Buffer | undefined;

  constructor({ peek }: StreamOptions) {
    super();
    this.#peek = peek;
  }

  errorFrame(error: InBandError): Buffer {
    return this.#farewell ?? toErrorEvent(error, this.#sequence);
  }

  get stored(): boolean {
    return isStored(this.#peek, this.#store);
  }

  protected close(): void {
    this.fail('truncated', 'the stream of the provider ended early');
  }

  protected isWhole(frame: SseFrame): boolean {
    return parseJsonObject(frame.data ?? '') !== undefined;
  }

  protected read(frame: SseFrame, out: SseBatch): void {
    const text = frame.payload?.trim();
    if (!text || text === '[DONE]') return;
    const event = parseJsonObject(frame.data ?? '');
    if (!event) this.fail('malformed', 'an event of the provider is not a JSON object');
    else if (typeof event['type'] === 'string')
      this.#readEvent(event['type'], event, { frame, out });
    else if (frame.event === 'error' || isJsonObject(event['error']))
      this.#failBy(event['error'] ?? event);
  }

  #readEvent(type: string, event: Members, to: { frame: SseFrame; out: SseBatch }): void {
    const shape = EVENTS.get(type);
    if (!shape) return;
    const slots = this.#locate(type, shape, event);
    if (!slots) return;
    const { sequence_number: sequence, response } = event;
    const { background, question } = this.#peek;
    // It is at work by itself and can be asked for later, so the client learns of it at once.
    if ((background || question) && isJsonObject(response)) {
      this.work = toWork(response);
      if (question && this.work?.id !== question.below[0])
        return this.fail('malformed', 'an event of the provider is of another response');
      this.contentSeen ||= this.work !== undefined;
    }
    const isFailed = type === 'response.failed';
    // Of one that is looked up it is the end, as any other.
    const fails = type === 'error' || (isFailed && !question);
    // The error for the client takes the sequence number of the failure event that it replaces.
    if (typeof sequence === 'number') this.#sequence = fails ? sequence : sequence + 1;
    if (fails) this.#readFailure(type, event, to.frame);
    else {
      this.#note(type, event);
      const isLast = isFailed || type === 'response.completed' || type === 'response.incomplete';
      if (isLast && !this.contentSeen)
        return this.fail('truncated', 'the stream of the provider ended without an answer');
      const isKnown = typeof sequence === 'number' && sequence <= (question?.after ?? -Infinity);
      const kept = isKnown ? undefined : keepPublic(to.frame.payload ?? '', shape, slots);
      if (kept !== undefined) forward(type, kept, to);
      this.ended = isLast;
    }
  }

  /** Undefined for an event that is not passed on, or makes no sense. */
  #locate(type: string, shape: Shape, event: Members): Slots | undefined {
    if (shape.members?.has('response')) {
      const { response } = event;
      if (isJsonObject(response) && this.#places.seed(response['output']))
        return publicSlots(this.#peek.model, response['error']);
    } else if (!shape.members?.has('output_index')) return {};
    else {
      const found = this.#places.find(type, event);
      if (found === 'private') return undefined;
      if (found !== 'dangling') return found;
    }
    this.fail('malformed', 'an event of the provider refers to nothing');
    return undefined;
  }

  #note(type: string, event: Members): void {
    this.contentSeen ||= hasContent(type, event);
    this.thinking ||= isOfReasoning(type, event);
    const { delta, item, response } = event;
    if (typeof delta === 'string') this.outputChars += delta.length;
    if (type === 'response.output_item.done') this.#pin({ output: [item], store: this.#store });
    if (!isJsonObject(response)) return;
    this.usage = usageOfResponse(response) ?? this.usage;
    this.outputChars = Math.max(this.outputChars, measureItems(response['output']));
    this.#store = response['store'];
    this.#pin(response);
  }

  #pin(answer: Members): void {
    for (const name of pinsOfAnswer(answer))
      if (this.pins.length < MAX_PINS && !this.pins.includes(name)) this.pins.push(name);
  }

  /**
   * Reports a failure to the client in the provider's own event, without the members that must not
   * be shown.
   */
  #readFailure(type: string, event: Members, { payload = '' }: SseFrame): void {
    const { response } = event;
    if (isJsonObject(response)) this.usage = usageOfResponse(response) ?? this.usage;
    const nested = isJsonObject(response) ? response['error'] : event['error'];
    // An error that the provider nests is not in the public form.
    if (type === 'error' && nested !== undefined && nested !== null) return this.#failBy(nested);
    this.failure = toResponsesFailure(nested ?? event);
    const shape = EVENTS.get(type);
    const kept =
      shape && keepPublic(payload, shape, publicSlots(this.#peek.model, nested ?? event));
    if (kept !== undefined) this.#farewell = toFrameBytes(type, kept);
  }

  /** Fails with an error in the public form; the gateway words one without a message. */
  #failBy(error: unknown): void {
    const failure = toResponsesFailure(error);
    this.failure = failure;
    if (failure.message === '') return;
    const param = isJsonObject(error) ? error['param'] : undefined;
    const code = failure.code ?? failure.type ?? null;
    const told = { code, message: toPublicMessage(failure.message), param };
    this.#farewell = toErrorEvent(told, this.#sequence);
  }
}

/** An event that lost nothing is forwarded unchanged. */
function forward(
  type: string,
  kept: string,
  { frame, out }: { frame: SseFrame; out: SseBatch },
): void {
  if (frame.isPlain && kept === frame.payload && frame.event === type) out.add(frame);
  else out.addBytes(toFrameBytes(type, kept));
}

function toFrameBytes(type: string, latin1: string): Buffer {
  return formatSse({ event: type, data: Buffer.from(latin1, 'latin1').toString('utf8') });
}
