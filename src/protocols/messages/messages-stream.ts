import { Buffer } from 'node:buffer';
import { isJsonObject, parseJsonObject } from '../../core/json/value.ts';
import type { SseBatch } from '../../core/sse/batch.ts';
import { formatSse } from '../../core/sse/frame.ts';
import type { SseFrame } from '../../core/sse/frame.ts';
import { EventStream } from '../event-stream.ts';
import type { StreamOptions, StreamReader } from '../protocol.ts';
import {
  hasContent,
  isSameMessage,
  isStopped,
  measureDelta,
  opensThinking,
  rewriteStartModel,
} from './messages-event.ts';
import { sizeOfContent } from './messages-answer.ts';
import { toMessagesFailure } from './messages-failure.ts';
import { joinMessagesUsage, toMessagesUsage } from './messages-usage.ts';

type Event = Readonly<Record<string, unknown>>;

const NOT_JSON = 'an event of the provider is not JSON';
const DELTA = 'content_block_delta';
const STOP = 'message_stop';
const STOP_FRAME = formatSse({ event: STOP, data: JSON.stringify({ type: STOP }) });

/**
 * Reads a Messages stream. Forwards events unchanged, under a name that is their type: official
 * clients skip events without one. Parses all but the deltas after the first content.
 */
export function createMessagesStream(options: StreamOptions): StreamReader {
  return new MessagesStream(options);
}

class MessagesStream extends EventStream {
  readonly #logicalModel: string | undefined;
  #told: Event | undefined;
  #message: Event | undefined;
  #finished = false;

  constructor({ logicalModel }: StreamOptions) {
    super();
    this.#logicalModel = logicalModel;
  }

  protected close(out: SseBatch): void {
    if (!this.#finished) {
      this.fail('truncated', 'the stream of the provider ended early');
      return;
    }
    this.ended = true;
    out.addBytes(STOP_FRAME);
  }

  protected isWhole(frame: SseFrame): boolean {
    return parseJsonObject(frame.data ?? '') !== undefined;
  }

  protected read(frame: SseFrame, out: SseBatch): void {
    const { payload } = frame;
    if (payload === undefined || payload.trim() === '') {
      // A comment; only a name or empty data is no event to clients.
      if (payload === undefined && frame.event === undefined) out.add(frame);
    } else if (this.contentSeen && isPlainDelta(frame.event, payload)) {
      this.outputChars += measureDelta(payload);
      out.add(frame);
    } else this.#readEvent(frame, parseJsonObject(frame.data ?? ''), out);
  }

  #readEvent(frame: SseFrame, event: Event | undefined, out: SseBatch): void {
    if (event === undefined) {
      // Gateways that speak several protocols end all alike; another event marks the end here.
      if (frame.payload?.trim() !== '[DONE]') this.fail('malformed', NOT_JSON);
      return;
    }
    const type = typeof event['type'] === 'string' ? event['type'] : frame.event;
    if (type === 'error') {
      this.failure = toMessagesFailure(event);
      return;
    }
    if (type === 'message_start' && !this.#begin(event, out)) return;
    this.#note(type, event, frame.payload ?? '');
    if (type === STOP && !this.contentSeen) {
      this.fail('truncated', 'the stream of the provider ended without an answer');
      return;
    }
    this.#forward(frame, type, out);
    this.ended = type === STOP;
  }

  /** False for an event that is not passed on: it repeats the beginning, or comes too late for one. */
  #begin({ message }: Event, out: SseBatch): boolean {
    const earlier = this.#message;
    if (!isJsonObject(message)) return true;
    if (earlier && isSameMessage(earlier, message)) return false;
    this.#message = message;
    this.#finished = isStopped(message);
    if (!earlier) return true;
    if (this.contentSeen) {
      this.fail('malformed', 'the provider began another answer in the same stream');
      return false;
    }
    this.beginAnew(out);
    this.#told = undefined;
    return true;
  }

  #note(type: string | undefined, event: Event, payload: string): void {
    const { message, delta, usage } = event;
    this.contentSeen ||= hasContent({ ...event, type });
    this.thinking ||= opensThinking(event);
    if (type === DELTA) this.outputChars += measureDelta(payload);
    if (type === 'message_start' && isJsonObject(message)) {
      this.#noteUsage(message['usage']);
      this.outputChars += sizeOfContent(message['content']);
    }
    if (type !== 'message_delta') return;
    this.#noteUsage(usage);
    this.#finished ||= isJsonObject(delta) && isStopped(delta);
  }

  #noteUsage(usage: unknown): void {
    if (!isJsonObject(usage)) return;
    this.#told = joinMessagesUsage(this.#told, usage);
    this.usage = toMessagesUsage(this.#told);
  }

  #forward(frame: SseFrame, type: string | undefined, out: SseBatch): void {
    const data = frame.payload ?? '';
    if (type === 'message_start' && this.#logicalModel !== undefined) {
      this.#forwardStart(Buffer.from(data, 'latin1'), this.#logicalModel, out);
    } else if (frame.event === type) out.add(frame);
    else out.addBytes(formatSse({ event: type, data: frame.data ?? '' }));
  }

  #forwardStart(payload: Buffer, model: string, out: SseBatch): void {
    try {
      const data = rewriteStartModel(payload, model).toString('utf8');
      out.addBytes(formatSse({ event: 'message_start', data }));
    } catch {
      this.fail('malformed', NOT_JSON);
    }
  }
}

/** A named delta that says its type first, as all providers write it. */
function isPlainDelta(event: string | undefined, payload: string): boolean {
  return (
    event === DELTA &&
    /^\{\s*"type"\s*:\s*"content_block_delta"/.test(payload) &&
    payload.trimEnd().endsWith('}')
  );
}
