import { Buffer } from 'node:buffer';
import type { StreamFailure, StreamOptions, StreamReader } from '../protocols/protocol.ts';
import type { HealthReport } from '../routing/health.ts';
import type { UpstreamError, UpstreamHeaders } from '../upstream/transport.ts';
import {
  abortedFailure,
  bugFailure,
  codingFailure,
  invalidAnswerFailure,
  isUnreadable,
  lapseFailure,
  shutdownFailure,
  statusFailure,
  streamFailure,
  transportFailure,
  waitingFailure,
} from './failures.ts';
import type { ExchangeOptions, StreamEnd } from './exchange-options.ts';
import { toInBandError } from './in-band-error.ts';
import { readAnswer } from './read-answer.ts';
import { estimateUsage } from './settlement.ts';
import type { AttemptFailure } from './types.ts';
import { UpstreamStream } from './upstream-stream.ts';
import type { Lapse } from './watchdog.ts';

/**
 * Lifecycle events held back until the first content (requirement routing.commit-gate). Beyond both
 * numbers the provider sends no answer; one event alone may be larger, for some repeat the request.
 */
const MAX_HELD_EVENTS = 64;
const MAX_HELD_BYTES = 256 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
const EMPTY = Buffer.alloc(0);

type Phase = 'head' | 'error' | 'answer' | 'stream' | 'committed';

/**
 * One candidate's exchange, as the transport's sink: gathers an answer, or holds a stream back until
 * its first content and relays it from then on. Decides exactly once (`resolve`), ends exactly once.
 */
export class Exchange extends UpstreamStream {
  private phase: Phase = 'head';
  private status = 0;
  private headers: UpstreamHeaders = {};
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private reader: StreamReader | undefined;
  private lastBytes: Buffer = EMPTY;
  private endStream: ((end: StreamEnd) => void) | undefined;
  private health: HealthReport | undefined;
  /** Clock.monotonic() when the request was sent. */
  private sentAt = 0;
  private readonly options: ExchangeOptions;

  constructor(options: ExchangeOptions) {
    const { call, candidate, clock, active } = options;
    const { timeouts, minThroughput } = candidate.route;
    super({
      clock,
      timeouts,
      minThroughput,
      beforeCommitMs: call.peek.stream ? timeouts.firstContent : timeouts.wholeAnswer,
      callDeadline: call.request.startedAt + timeouts.total,
      client: call.request.client,
      active,
    });
    this.options = options;
  }

  onSent(): void {
    if (!this.isOver) this.options.onSent();
  }

  protected override begun(): void {
    this.sentAt = this.options.clock.monotonic();
    this.health = this.options.onBegun();
  }

  protected override answered(status: number, headers: UpstreamHeaders): void {
    this.safely(() => this.begin(status, headers));
  }

  protected override received(chunk: Buffer): void {
    this.safely(() => this.take(chunk));
  }

  protected override finished(): void {
    this.safely(() => this.finish());
  }

  protected override failed(error: UpstreamError): void {
    if (error.answer) {
      const { candidate, clock } = this.options;
      return this.fail(codingFailure(error.answer, candidate.route, clock.now()));
    }
    if (this.phase === 'error' && this.status >= 400) return this.fail(this.errorAnswer());
    this.fail(this.seen(transportFailure(error, this.options.call.request.repeatable)));
  }

  protected override lapsed(lapse: Lapse): void {
    this.fail(this.isWaiting ? waitingFailure(lapse) : this.seen(lapseFailure(lapse)));
  }

  /** The client is told, in the stream if it has begun. */
  protected override stopped(): void {
    this.fail(shutdownFailure());
  }

  protected override clientLeft(): void {
    const failure = abortedFailure(this.isWaiting);
    this.abort();
    this.health?.abandon();
    if (this.phase !== 'committed') return this.options.resolve(failure);
    this.relay?.body.destroy();
    this.endStream?.({ failure: undefined, clientGone: true, finish: () => undefined });
  }

  /** Thrown into a transport, a bug would end the process instead of this one call. */
  private safely(step: () => void): void {
    try {
      step();
    } catch (thrown) {
      if (this.isOver) throw thrown;
      if (isUnreadable(thrown)) return this.fail(invalidAnswerFailure('unreadable', this.status));
      if (this.phase === 'committed') this.options.onBug(thrown);
      this.fail(bugFailure(thrown));
    }
  }

  private begin(status: number, headers: UpstreamHeaders): void {
    const { call, wire } = this.options;
    this.status = status;
    this.headers = headers;
    if (status < 200 || status > 299) this.phase = 'error';
    else if (!call.peek.stream || !wire.createStream) this.phase = 'answer';
    else if (!isEventStream(headers)) this.phase = 'error';
    else {
      this.phase = 'stream';
      this.reader = wire.createStream(this.answerOptions());
    }
  }

  private take(chunk: Buffer): void {
    if (this.phase === 'stream') return this.hold(chunk);
    if (this.phase === 'committed') {
      const reader = this.reader as StreamReader;
      this.forward(reader.push(chunk) ?? EMPTY);
      return this.afterPush(reader);
    }
    if (this.phase !== 'head') this.gather(chunk);
  }

  private finish(): void {
    switch (this.phase) {
      case 'error':
        return this.fail(this.errorAnswer());
      case 'answer':
        return this.finishAnswer();
      case 'stream':
      case 'committed':
        return this.finishStream();
      case 'head':
    }
  }

  private answerOptions(): StreamOptions {
    const { call, candidate } = this.options;
    const logical = candidate.route.responseModel === 'logical';
    return {
      peek: call.peek,
      logicalModel: logical ? call.peek.model : undefined,
      account: candidate.route.provider.id,
      id: call.request.id,
      created: Math.floor(call.request.at / 1000),
      estimateUsage: (outputChars) => estimateUsage(call, outputChars),
    };
  }

  private gather(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.size += chunk.length;
    if (this.phase === 'error' && this.size > MAX_ERROR_BYTES) return this.fail(this.errorAnswer());
    if (this.size > this.options.maxAnswerBytes)
      this.fail(invalidAnswerFailure('too_large', this.status));
  }

  private errorAnswer(): AttemptFailure {
    const { candidate, clock } = this.options;
    if (this.status < 300) return invalidAnswerFailure('not_a_stream', this.status);
    const body = Buffer.concat(this.chunks).toString('utf8');
    return statusFailure(
      { status: this.status, headers: this.headers, body },
      candidate.route,
      clock.now(),
    );
  }

  private finishAnswer(): void {
    const body = this.chunks.length === 1 ? (this.chunks[0] as Buffer) : Buffer.concat(this.chunks);
    const { call, wire } = this.options;
    const answer = this.answerOptions();
    const { maxAnswerValues: maxValues } = this.options;
    const read = readAnswer(body, { wire, peek: call.peek, answer, maxValues });
    if (!(read instanceof Promise)) return this.endAnswer(read);
    read.then(
      (later) => this.safely(() => this.endAnswer(later)),
      (thrown: unknown) => this.safely(() => rethrow(thrown)),
    );
  }

  /** The client may be gone, or time may be up, since the answer was there. */
  private endAnswer(answer: Awaited<ReturnType<typeof readAnswer>>): void {
    if (this.isOver) return;
    if ('type' in answer) {
      const { reason, usage } = answer;
      return this.fail({ ...invalidAnswerFailure(reason, this.status), usage });
    }
    this.noteContent();
    this.close();
    this.options.resolve({ type: 'answer', answer, headers: this.headers });
  }

  private hold(chunk: Buffer): void {
    const reader = this.reader as StreamReader;
    const ready = reader.push(chunk);
    if (ready) this.chunks.push(ready);
    if (reader.failure && !reader.contentSeen) return this.discard(reader, reader.failure);
    if (reader.contentSeen) this.beginStream();
    else if (isFull(reader, this.options.maxAnswerBytes))
      this.fail({ ...invalidAnswerFailure('no_content', this.status), usage: reader.usage });
  }

  /** A stream without content; what its provider counted all the same is due. */
  private discard({ usage }: StreamReader, failure: StreamFailure): void {
    this.fail({ ...streamFailure(failure, this.options.candidate.route), usage });
  }

  private beginStream(): void {
    const { call, resolve } = this.options;
    const { headers } = this;
    const reader = this.reader as StreamReader;
    const relay = this.commit(call.request.protocol.keepAlive?.(call.peek));
    this.phase = 'committed';
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
    else if (reader.ended) this.finishStream();
  }

  private finishStream(): void {
    const reader = this.reader as StreamReader;
    const rest = reader.ended ? undefined : reader.end();
    if (this.phase === 'stream') {
      if (rest) this.chunks.push(rest);
      if (reader.contentSeen) return this.beginStream();
      return this.discard(reader, reader.failure ?? { kind: 'truncated', message: '' });
    }
    if (rest) this.forward(rest);
    if (reader.failure)
      return this.fail(streamFailure(reader.failure, this.options.candidate.route));
    this.close();
    const finish = (): void => this.relay?.end(this.lastBytes);
    this.endStream?.({ failure: undefined, clientGone: false, finish });
  }

  /** Before the commit the next candidate takes over; after it the client is told in its own protocol. */
  private fail(failure: AttemptFailure): void {
    this.abort();
    if (failure.fault) this.health?.fault(failure.fault, failure.retryAfterMs);
    else this.health?.abandon();
    if (this.phase !== 'committed') return this.options.resolve(failure);
    const { request, peek } = this.options.call;
    const told = toInBandError(failure);
    const frame = this.reader?.errorFrame?.(told) ?? request.protocol.errorFrame?.(told, peek);
    const finish = (): void => this.relay?.end(frame);
    this.endStream?.({ failure, clientGone: false, finish });
  }

  /** With the status of a head that had arrived before. */
  private seen(failure: AttemptFailure): AttemptFailure {
    return this.phase === 'head' ? failure : { ...failure, upstreamStatus: this.status };
  }

  private noteContent(): void {
    const now = this.options.clock.monotonic();
    this.options.call.record.firstContentAt ??= now;
    this.health?.success(now - this.sentAt);
  }
}

function isFull({ held, events }: StreamReader, maxBytes: number): boolean {
  return held > maxBytes || (events > MAX_HELD_EVENTS && held > MAX_HELD_BYTES);
}

function isEventStream(headers: UpstreamHeaders): boolean {
  const type = headers['content-type'];
  return typeof type === 'string' && type.toLowerCase().startsWith('text/event-stream');
}

function rethrow(thrown: unknown): never {
  throw thrown;
}
