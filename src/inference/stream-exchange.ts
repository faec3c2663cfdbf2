import { Buffer } from 'node:buffer';
import type { InBandError, StreamFailure, StreamReader } from '../protocols/protocol.ts';
import type { UpstreamHeaders } from '../upstream/transport.ts';
import { CandidateExchange } from './candidate-exchange.ts';
import type { StreamEnd } from './exchange-options.ts';
import { invalidAnswerFailure, streamFailure } from './failures.ts';
import type { AttemptFailure } from './types.ts';

/**
 * Lifecycle events held back until the first content (requirement routing.commit-gate). Beyond both numbers the
 * provider sends no answer; a single event may be larger, for some repeat the request.
 */
const MAX_HELD_EVENTS = 64;
const MAX_HELD_BYTES = 256 * 1024;
const EMPTY = Buffer.alloc(0);

/** Holds a stream back until its first content and relays it from then on. */
export class StreamExchange extends CandidateExchange {
  private reader: StreamReader | undefined;
  private lastBytes: Buffer = EMPTY;
  private endStream: ((end: StreamEnd) => void) | undefined;

  protected override accept(headers: UpstreamHeaders): boolean {
    if (!isEventStream(headers)) return false;
    this.reader = this.options.wire.createStream?.(this.answerOptions());
    return true;
  }

  protected override take(chunk: Buffer): void {
    const reader = this.reader as StreamReader;
    if (!this.relay) return this.hold(chunk, reader);
    this.forward(reader.push(chunk) ?? EMPTY);
    this.afterPush(reader);
  }

  protected override finish(): void {
    const reader = this.reader as StreamReader;
    const rest = reader.ended ? undefined : reader.end();
    if (!this.relay) {
      if (rest) this.chunks.push(rest);
      if (reader.contentSeen) return this.begin(reader);
      return this.discard(reader, reader.failure ?? { kind: 'truncated', message: '' });
    }
    if (rest) this.forward(rest);
    if (reader.failure)
      return this.fail(streamFailure(reader.failure, this.options.candidate.route));
    this.close();
    const finish = (): void => this.relay?.end(this.lastBytes);
    this.endStream?.({ failure: undefined, clientGone: false, finish });
  }

  /** Sends the error to the client of a committed stream in its own protocol. */
  protected override tell(failure: AttemptFailure): void {
    if (!this.relay) return super.tell(failure);
    const { request, peek } = this.options.call;
    const told = toInBandError(failure);
    const frame = this.reader?.errorFrame?.(told) ?? request.protocol.errorFrame?.(told, peek);
    const finish = (): void => this.relay?.end(frame);
    this.endStream?.({ failure, clientGone: false, finish });
  }

  protected override forsake(failure: AttemptFailure): void {
    if (!this.relay) return super.forsake(failure);
    this.relay.body.destroy();
    this.endStream?.({ failure: undefined, clientGone: true, finish: () => undefined });
  }

  private hold(chunk: Buffer, reader: StreamReader): void {
    const ready = reader.push(chunk);
    if (ready) this.chunks.push(ready);
    if (reader.failure && !reader.contentSeen) return this.discard(reader, reader.failure);
    if (isThinking(reader)) this.answering();
    if (reader.contentSeen) this.begin(reader);
    else if (isFull(reader, this.options.maxAnswerBytes))
      this.fail({ ...invalidAnswerFailure('no_content', this.status), usage: reader.usage });
  }

  /** A stream without content; what its provider counted all the same is due. */
  private discard({ usage }: StreamReader, failure: StreamFailure): void {
    this.fail({ ...streamFailure(failure, this.options.candidate.route), usage });
  }

  private begin(reader: StreamReader): void {
    const { call, resolve } = this.options;
    const { headers } = this;
    const relay = this.commit(call.request.protocol.keepAlive?.(call.peek));
    this.noteContent();
    const ended = new Promise<StreamEnd>((end) => {
      this.endStream = end;
    });
    this.forward(
      this.chunks.length === 1 ? (this.chunks[0] as Buffer) : Buffer.concat(this.chunks),
    );
    this.chunks.length = 0;
    resolve({ type: 'stream', headers, reader, relay, ended, abort: () => this.giveUp() });
    this.afterPush(reader);
  }

  /** The last bytes of a stream wait for the settlement of the call. */
  private forward(bytes: Buffer): void {
    this.options.call.content?.add(bytes);
    if (this.reader?.ended) this.lastBytes = bytes;
    else this.pass(bytes);
  }

  private afterPush(reader: StreamReader): void {
    if (reader.failure) this.fail(streamFailure(reader.failure, this.options.candidate.route));
    else if (reader.ended) this.finish();
  }
}

function isFull({ held, events }: StreamReader, maxBytes: number): boolean {
  return held > maxBytes || (events > MAX_HELD_EVENTS && held > MAX_HELD_BYTES);
}

/** True once the provider has opened reasoning, or counts some, whose text it may never show. */
function isThinking({ thinking, usage }: StreamReader): boolean {
  return thinking || (usage?.reasoning ?? 0) > 0;
}

function isEventStream(headers: UpstreamHeaders): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && type.toLowerCase().startsWith('text/event-stream');
}

/** Reports a failure to the client after the beginning of its answer. */
function toInBandError(failure: AttemptFailure): InBandError {
  if (failure.reason === 'timeout_idle' || failure.reason === 'timeout_total') {
    return {
      message: 'the provider stopped sending',
      type: 'timeout_error',
      code: 'upstream_timeout',
      status: 504,
    };
  }
  if (failure.reason === 'shutting_down' || failure.reason === 'bug') {
    const { message, code, status } = failure.error;
    return { message, type: 'api_error', code, status };
  }
  return {
    message: 'the provider failed during the stream',
    type: 'api_error',
    code: 'upstream_interrupted',
    status: 502,
  };
}
