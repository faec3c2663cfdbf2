import { Buffer } from 'node:buffer';
import type { StreamFailure, StreamOptions, StreamReader } from '../protocols/protocol.ts';
import type { HealthReport } from '../routing/health.ts';
import type {
  UpstreamCall,
  UpstreamError,
  UpstreamHeaders,
  UpstreamSink,
} from '../upstream/transport.ts';
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
import type { ActiveExchange } from './active-exchanges.ts';
import type { ExchangeOptions, StreamEnd } from './exchange-options.ts';
import { toInBandError } from './in-band-error.ts';
import { readAnswer } from './read-answer.ts';
import { createRelay } from './relay.ts';
import type { Relay } from './relay.ts';
import { estimateUsage } from './settlement.ts';
import type { AttemptFailure } from './types.ts';
import { Watchdog } from './watchdog.ts';
import type { Lapse } from './watchdog.ts';

/**
 * Lifecycle events held back until the first content (requirement routing.commit-gate). Beyond both
 * numbers the provider sends no answer; one event alone may be larger, for some repeat the request.
 */
const MAX_HELD_EVENTS = 64;
const MAX_HELD_BYTES = 256 * 1024;
const MAX_ERROR_BYTES = 64 * 1024;
const EMPTY = Buffer.alloc(0);

type Phase = 'head' | 'error' | 'answer' | 'stream' | 'committed' | 'over';

/**
 * One candidate's exchange, as the transport's sink: gathers an answer, or holds a stream back until
 * its first content and relays it from then on. Decides exactly once (`resolve`), ends exactly once.
 */
export class Exchange implements UpstreamSink, ActiveExchange {
  slot: number | undefined;
  private phase: Phase = 'head';
  private status = 0;
  private headers: UpstreamHeaders = {};
  private readonly chunks: Buffer[] = [];
  private size = 0;
  private upstream: UpstreamCall | undefined;
  private reader: StreamReader | undefined;
  private relay: Relay | undefined;
  private lastBytes: Buffer = EMPTY;
  private endStream: ((end: StreamEnd) => void) | undefined;
  private readonly watchdog: Watchdog;
  private readonly forgetClient: () => void;
  private health: HealthReport | undefined;
  /** Clock.monotonic() when the request was sent. */
  private sentAt = 0;
  private readonly options: ExchangeOptions;

  constructor(options: ExchangeOptions) {
    const { call, candidate, clock } = options;
    const { timeouts, minThroughput } = candidate.route;
    this.options = options;
    this.watchdog = new Watchdog({
      clock,
      timeouts,
      minThroughput,
      beforeCommitMs: call.peek.stream ? timeouts.firstContent : timeouts.wholeAnswer,
      callDeadline: call.request.startedAt + timeouts.total,
      onLapse: (lapse) => this.onLapse(lapse),
    });
    this.forgetClient = call.request.client.onGone(() => this.onClientGone());
    options.active.add(this);
  }

  /** Hands over the transport's handle; an exchange that is over by then closes it. */
  attach(upstream: UpstreamCall): void {
    this.upstream = upstream;
    if (this.phase === 'over') upstream.abort();
    else if (upstream.isWaiting) this.watchdog.waiting();
    else this.noteBegun();
  }

  onPlace(): void {
    this.watchdog.placed();
    this.noteBegun();
  }

  onSent(): void {
    if (this.phase !== 'over') this.options.onSent();
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    if (this.phase === 'head') this.safely(() => this.begin(status, headers));
  }

  onData(chunk: Buffer): void {
    this.watchdog.fed(chunk.length);
    this.safely(() => this.take(chunk));
  }

  onEnd(): void {
    this.safely(() => this.finish());
  }

  onError(error: UpstreamError): void {
    if (this.phase === 'over') return;
    if (error.answer) {
      const { candidate, clock } = this.options;
      return this.fail(codingFailure(error.answer, candidate.route, clock.now()));
    }
    if (this.phase === 'error' && this.status >= 400) return this.fail(this.errorAnswer());
    this.fail(this.seen(transportFailure(error, this.options.call.request.repeatable)));
  }

  /** The gateway stops: the client is told, in the stream if it has begun. */
  shutDown(): void {
    if (this.phase !== 'over') this.fail(shutdownFailure());
  }

  /** Thrown into a transport, a bug would end the process instead of this one call. */
  private safely(step: () => void): void {
    try {
      step();
    } catch (thrown) {
      if (this.phase === 'over') throw thrown;
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
    if (this.phase === 'committed') return this.forward(chunk);
    if (this.phase === 'error' || this.phase === 'answer') this.gather(chunk);
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
      case 'over':
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
    if (this.phase !== 'answer') return;
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
    if (reader.contentSeen) this.commit();
    else if (isFull(reader, this.options.maxAnswerBytes))
      this.fail({ ...invalidAnswerFailure('no_content', this.status), usage: reader.usage });
  }

  /** A stream without content; what its provider counted all the same is due. */
  private discard({ usage }: StreamReader, failure: StreamFailure): void {
    this.fail({ ...streamFailure(failure, this.options.candidate.route), usage });
  }

  private commit(): void {
    const { clock, call } = this.options;
    const reader = this.reader as StreamReader;
    const relay = createRelay({
      clock,
      keepAlive: call.request.protocol.keepAlive?.(call.peek),
      onDrain: () => {
        if (this.phase === 'over') return;
        this.watchdog.paused(false);
        this.upstream?.resume();
      },
    });
    this.relay = relay;
    this.phase = 'committed';
    this.watchdog.committed();
    this.noteContent();
    const ended = new Promise<StreamEnd>((resolve) => {
      this.endStream = resolve;
    });
    this.pass(this.chunks.length === 1 ? (this.chunks[0] as Buffer) : Buffer.concat(this.chunks));
    this.chunks.length = 0;
    const abort = (): void => this.onClientGone();
    this.options.resolve({ type: 'stream', headers: this.headers, reader, relay, ended, abort });
    this.afterPush(reader);
  }

  private forward(chunk: Buffer): void {
    const reader = this.reader as StreamReader;
    this.pass(reader.push(chunk) ?? EMPTY);
    this.afterPush(reader);
  }

  private pass(bytes: Buffer): void {
    this.options.call.content?.add(bytes);
    if (this.reader?.ended) {
      this.lastBytes = bytes;
      return;
    }
    if (this.relay?.write(bytes) !== false) return;
    this.watchdog.paused(true);
    this.upstream?.pause();
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
      if (reader.contentSeen) return this.commit();
      return this.discard(reader, reader.failure ?? { kind: 'truncated', message: '' });
    }
    if (rest) this.pass(rest);
    if (reader.failure)
      return this.fail(streamFailure(reader.failure, this.options.candidate.route));
    this.close();
    const finish = (): void => this.relay?.end(this.lastBytes);
    this.endStream?.({ failure: undefined, clientGone: false, finish });
  }

  /** Before the commit the next candidate takes over; after it the client is told in its own protocol. */
  private fail(failure: AttemptFailure): void {
    const wasCommitted = this.phase === 'committed';
    this.close();
    this.upstream?.abort();
    if (failure.fault) this.health?.fault(failure.fault, failure.retryAfterMs);
    else this.health?.abandon();
    if (!wasCommitted) return this.options.resolve(failure);
    const { request, peek } = this.options.call;
    const told = toInBandError(failure);
    const frame = this.reader?.errorFrame?.(told) ?? request.protocol.errorFrame?.(told, peek);
    const finish = (): void => this.relay?.end(frame);
    this.endStream?.({ failure, clientGone: false, finish });
  }

  private onLapse(lapse: Lapse): void {
    if (this.phase === 'over') return;
    const isWaiting = this.upstream?.isWaiting;
    this.fail(isWaiting ? waitingFailure(lapse) : this.seen(lapseFailure(lapse)));
  }

  /** With the status of a head that had arrived before. */
  private seen(failure: AttemptFailure): AttemptFailure {
    return this.phase === 'head' ? failure : { ...failure, upstreamStatus: this.status };
  }

  private onClientGone(): void {
    if (this.phase === 'over') return;
    const wasCommitted = this.phase === 'committed';
    const failure = abortedFailure(this.upstream?.isWaiting);
    this.close();
    this.upstream?.abort();
    this.health?.abandon();
    if (!wasCommitted) return this.options.resolve(failure);
    this.relay?.body.destroy();
    this.endStream?.({ failure: undefined, clientGone: true, finish: () => undefined });
  }

  private noteBegun(): void {
    this.sentAt = this.options.clock.monotonic();
    this.health = this.options.onBegun();
  }

  private noteContent(): void {
    const now = this.options.clock.monotonic();
    this.options.call.record.firstContentAt ??= now;
    this.health?.success(now - this.sentAt);
  }

  private close(): void {
    this.phase = 'over';
    this.options.active.delete(this);
    this.watchdog.stop();
    this.forgetClient();
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
