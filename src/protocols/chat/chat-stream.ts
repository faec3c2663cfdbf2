import { Buffer } from 'node:buffer';
import { applyPatches } from '../../core/json/splice.ts';
import { isJsonObject, parseJsonObject } from '../../core/json/value.ts';
import type { SseBatch } from '../../core/sse/batch.ts';
import { formatSse } from '../../core/sse/frame.ts';
import type { SseFrame } from '../../core/sse/frame.ts';
import { NO_USAGE } from '../../core/usage.ts';
import { EventStream } from '../event-stream.ts';
import { modelPatches, rewriteModelName } from '../model-member.ts';
import type { StreamOptions, StreamReader } from '../protocol.ts';
import {
  finishedChoices,
  hasContent,
  hasMember,
  hasReasoning,
  toChunkFailure,
  toFailure,
} from './chat-chunk.ts';
import { measureOutput } from './chat-output.ts';
import { usageOf, writeChatUsage } from './chat-usage.ts';

const DONE = '[DONE]';
const NOT_JSON = 'an event of the provider is not JSON';
const DONE_FRAME = formatSse({ data: DONE });

/**
 * Reads a chat completions stream. Chunks are parsed in full until the first content and where
 * their bytes name an error, a usage object or a finish reason; the others are only checked to
 * begin and end as an object does, and are passed on as they came.
 */
export function createChatStream(options: StreamOptions): StreamReader {
  return new ChatStream(options);
}

class ChatStream extends EventStream {
  readonly #options: StreamOptions;
  readonly #finished = new Set<number>();
  /** The members that all chunks have alike. */
  #head: object = {};
  /** The client was passed a usage object. */
  #isUsageTold = false;

  constructor(options: StreamOptions) {
    super();
    this.#options = options;
  }

  protected close(out: SseBatch): void {
    if (this.#finished.size >= this.#options.peek.choices) {
      this.ended = true;
      this.#tellUsage(out);
      out.addBytes(DONE_FRAME);
    } else this.fail('truncated', 'the stream of the provider ended early');
  }

  protected isWhole(frame: SseFrame): boolean {
    return frame.payload?.trim() === DONE || parseJsonObject(frame.data ?? '') !== undefined;
  }

  protected read(frame: SseFrame, out: SseBatch): void {
    if (frame.event === 'error') {
      const told = parseJsonObject(frame.data ?? '');
      this.failure = toFailure(told?.['error'] ?? told ?? frame.data);
    } else if (frame.payload === undefined) out.add(frame);
    else {
      const text = frame.payload.trim();
      if (text === DONE) this.#finish(frame, out);
      else if (text !== '') this.#readChunk(frame, text, out);
    }
  }

  #finish(frame: SseFrame, out: SseBatch): void {
    if (!this.contentSeen) {
      this.fail('truncated', 'the stream of the provider ended without an answer');
      return;
    }
    this.ended = true;
    this.#tellUsage(out);
    out.add(frame);
  }

  #readChunk(frame: SseFrame, text: string, out: SseBatch): void {
    if (!text.startsWith('{') || !text.endsWith('}')) {
      this.fail('malformed', NOT_JSON);
      return;
    }
    let forward = true;
    if (!this.contentSeen || isNotable(text)) {
      forward = this.#readValue(parseJsonObject(frame.data ?? ''));
      if (this.failure !== undefined) return;
    }
    this.outputChars += measureOutput(text, 'delta');
    if (forward) this.#forward(frame, out);
  }

  /** False when the chunk is not for the client. */
  #readValue(value: Record<string, unknown> | undefined): boolean {
    if (value === undefined) {
      this.fail('malformed', NOT_JSON);
      return false;
    }
    this.failure = toChunkFailure(value);
    if (this.failure !== undefined) return false;
    if (!this.contentSeen) this.#head = this.#headOf(value);
    this.usage = usageOf(value) ?? this.usage;
    this.#isUsageTold ||= isJsonObject(value['usage']);
    this.contentSeen ||= hasContent(value);
    this.thinking ||= hasReasoning(value);
    for (const index of finishedChoices(value)) this.#finished.add(index);
    return this.#options.peek.keepUsage || !isUsageChunk(value);
  }

  #headOf({ id, created, model }: Readonly<Record<string, unknown>>): object {
    const { logicalModel = model, ...own } = this.#options;
    return {
      id: id ?? own.id,
      object: 'chat.completion.chunk',
      created: created ?? own.created,
      model: logicalModel,
    };
  }

  /** Adds usage, perhaps as an estimate, if the client asked for it and the provider sent none. */
  #tellUsage(out: SseBatch): void {
    const { peek, estimateUsage } = this.#options;
    if (!peek.keepUsage || this.#isUsageTold) return;
    const usage = this.usage ?? estimateUsage?.(this.outputChars) ?? NO_USAGE;
    const chunk = { ...this.#head, choices: [], usage: writeChatUsage(usage) };
    out.addBytes(formatSse({ data: JSON.stringify(chunk) }));
  }

  #forward(frame: SseFrame, out: SseBatch): void {
    const { logicalModel } = this.#options;
    if (logicalModel === undefined) {
      out.add(frame);
      return;
    }
    try {
      out.addBytes(renamed(frame, logicalModel));
    } catch {
      this.fail('malformed', NOT_JSON);
    }
  }
}

function renamed(frame: SseFrame, model: string): Buffer {
  const { raw, payload = '', payloadStart } = frame;
  if (payloadStart === undefined) {
    const json = rewriteModelName(Buffer.from(payload, 'latin1'), model);
    return formatSse({ event: frame.event, data: json.toString('utf8') });
  }
  const patches = modelPatches(payload, model, payloadStart - frame.start);
  return patches.length === 0 ? raw : applyPatches(raw, patches);
}

/** A chunk that must be parsed wherever it is. */
function isNotable(text: string): boolean {
  return (
    text.includes('"error"') ||
    hasMember(text, 'finish_reason"', '"') ||
    hasMember(text, 'usage"', '{')
  );
}

/** The extra chunk of `stream_options.include_usage`; an ordinary chunk may have usage, too. */
function isUsageChunk({ choices, usage }: Readonly<Record<string, unknown>>): boolean {
  return isJsonObject(usage) && (Array.isArray(choices) ? choices.length === 0 : !choices);
}
