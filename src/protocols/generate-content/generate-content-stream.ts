import { Buffer } from 'node:buffer';
import { parseJsonObject } from '../../core/json/value.ts';
import type { SseBatch } from '../../core/sse/batch.ts';
import type { SseFrame } from '../../core/sse/frame.ts';
import { EventStream } from '../event-stream.ts';
import type { InBandError, StreamOptions, StreamReader } from '../protocol.ts';
import { ElementWriter } from './element-writer.ts';
import {
  blockReasonOf,
  candidatesOf,
  finishReasonOf,
  hasContent,
  hasThought,
  measureAnswer,
  toChunkFailure,
} from './generate-content-chunk.ts';
import type { Members } from './fields.ts';
import { joinUsage } from './generate-content-usage.ts';
import { scanJson } from '../../core/json/json-document.ts';
import { spliceJson } from '../../core/json/splice.ts';

/**
 * Reads a stream of answers, which providers are always asked for as server-sent events, and gives
 * it the form that the client asked for. The protocol has no end marker: a stream is complete when
 * every candidate in it has a finish reason, or the prompt was refused.
 */
export function createGenerateContentStream(options: StreamOptions): StreamReader {
  return new GenerateContentStream(options);
}

class GenerateContentStream extends EventStream {
  readonly #logicalModel: string | undefined;
  readonly #writer: ElementWriter;
  readonly #candidates = new Set<number>();
  readonly #finished = new Set<number>();
  #blocked = false;

  constructor({ peek, logicalModel }: StreamOptions) {
    super();
    this.#logicalModel = logicalModel;
    this.#writer = new ElementWriter(peek);
  }

  errorFrame(error: InBandError): Buffer {
    return this.#writer.failure(error);
  }

  protected close(out: SseBatch): void {
    const { size } = this.#finished;
    if (!this.#blocked && (size === 0 || size < this.#candidates.size)) {
      this.fail('truncated', 'the stream of the provider ended early');
      return;
    }
    this.ended = true;
    const end = this.#writer.end();
    if (end) out.addBytes(end);
  }

  protected isWhole(frame: SseFrame): boolean {
    return parseJsonObject(frame.data ?? '') !== undefined;
  }

  /** The end marker of others means nothing, and an array cannot hold comments. */
  protected read(frame: SseFrame, out: SseBatch): void {
    if (frame.payload === undefined && frame.event === undefined && !this.#writer.isArray)
      return out.add(frame);
    const text = frame.payload?.trim() ?? '';
    if (text === '' || text === '[DONE]') return;
    // The latin1 view is valid JSON exactly when the text is; only shown texts must be decoded.
    const value = parseJsonObject(text);
    if (!value) this.fail('malformed', 'an event of the provider is not JSON');
    else if (value['error'] !== undefined && value['error'] !== null)
      this.failure = toChunkFailure(parseJsonObject(frame.data ?? '') ?? {});
    else {
      this.#note(value);
      this.#forward(frame, text, out);
    }
  }

  #note(value: Members): void {
    this.contentSeen ||= hasContent(value);
    this.thinking ||= hasThought(value);
    this.usage = joinUsage(this.usage, value);
    this.outputChars += measureAnswer(value);
    this.#blocked ||= blockReasonOf(value) !== undefined;
    for (const candidate of candidatesOf(value)) {
      const index = typeof candidate['index'] === 'number' ? candidate['index'] : 0;
      this.#candidates.add(index);
      if (finishReasonOf(candidate) !== undefined) this.#finished.add(index);
    }
  }

  #forward(frame: SseFrame, text: string, out: SseBatch): void {
    const model = this.#logicalModel;
    // Official clients pass over named events, and do not join lines of data.
    if (model === undefined && !this.#writer.isArray && frame.isBare) return out.add(frame);
    const json = Buffer.from(text, 'latin1');
    out.addBytes(
      this.#writer.element(model === undefined ? json : rewriteModelVersion(json, model)),
    );
  }
}

/** The answer or chunk under another model name; one without a `modelVersion` is not changed. */
function rewriteModelVersion(body: Buffer, model: string): Buffer {
  const { members } = scanJson(body);
  if (!members.some(({ key }) => key === 'modelVersion')) return body;
  return spliceJson(body, members, [
    { op: 'set', key: 'modelVersion', json: JSON.stringify(model) },
  ]);
}
