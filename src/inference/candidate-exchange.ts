import { Buffer } from 'node:buffer';
import type { StreamOptions } from '../protocols/protocol.ts';
import { vendorOf } from '../providers/account.ts';
import type { HealthReport } from '../routing/health.ts';
import type { UpstreamError, UpstreamHeaders } from '../upstream/transport.ts';
import type { ExchangeOptions } from './exchange-options.ts';
import {
  abortedFailure,
  bugFailure,
  codingFailure,
  invalidAnswerFailure,
  isUnreadable,
  lapseFailure,
  missingFailure,
  shutdownFailure,
  statusFailure,
  transportFailure,
  waitingFailure,
} from './failures.ts';
import { estimateUsage } from './settlement.ts';
import type { AttemptFailure } from './types.ts';
import { UpstreamStream } from './upstream-stream.ts';
import type { Lapse } from './watchdog.ts';

const MAX_ERROR_BYTES = 64 * 1024;

/** Share of the time of a call with which a candidate had as good as all of it. */
const WHOLE_TIME = 0.9;

/**
 * One candidate's exchange: reports its failures and its health. How an answer of success is taken is the
 * subclass's business. Decides exactly once (`resolve`), ends exactly once.
 */
export abstract class CandidateExchange extends UpstreamStream {
  protected readonly options: ExchangeOptions;
  protected readonly chunks: Buffer[] = [];
  protected size = 0;
  /** 0 before the head. */
  protected status = 0;
  protected headers: UpstreamHeaders = {};
  /** True for an answer that is read as an error. */
  #isRefused = false;
  #health: HealthReport | undefined;
  /** Clock.monotonic() when the request was sent. */
  #sentAt = 0;

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

  /** False for an answer that is not of the form that was asked for. */
  protected abstract accept(headers: UpstreamHeaders): boolean;
  protected abstract take(chunk: Buffer): void;
  protected abstract finish(): void;

  protected override begun(): void {
    this.#sentAt = this.options.clock.monotonic();
    this.#health = this.options.onBegun();
  }

  protected override answered(status: number, headers: UpstreamHeaders): void {
    this.status = status;
    this.headers = headers;
    this.safely(() => {
      this.#isRefused = status < 200 || status > 299 || !this.accept(headers);
    });
  }

  protected override received(chunk: Buffer): void {
    this.safely(() => (this.#isRefused ? this.#gatherError(chunk) : this.take(chunk)));
  }

  protected override finished(): void {
    this.safely(() => (this.#isRefused ? this.fail(this.#errorAnswer()) : this.finish()));
  }

  protected override failed(error: UpstreamError): void {
    if (error.answer) {
      const { candidate, clock } = this.options;
      return this.fail(codingFailure(error.answer, candidate.route, clock.now()));
    }
    if (this.#isRefused && this.status >= 400) return this.fail(this.#errorAnswer());
    this.fail(this.#seen(transportFailure(error, this.options.call.request.repeatable)));
  }

  protected override lapsed(lapse: Lapse): void {
    if (this.isWaiting) return this.fail(waitingFailure(lapse));
    const had = this.options.clock.monotonic() - this.#sentAt;
    const hadTime = had >= WHOLE_TIME * this.options.candidate.route.timeouts.total;
    this.fail(this.#seen(lapseFailure(lapse, hadTime)));
  }

  protected override stopped(): void {
    this.fail(shutdownFailure());
  }

  protected override clientLeft(): void {
    const failure = abortedFailure(this.isWaiting);
    this.abort();
    this.#health?.abandon();
    this.forsake(failure);
  }

  /** Thrown into a transport, a bug would end the process instead of this one call. */
  protected safely(step: () => void): void {
    try {
      step();
    } catch (thrown) {
      if (this.isOver) throw thrown;
      if (isUnreadable(thrown)) return this.fail(invalidAnswerFailure('unreadable', this.status));
      if (this.relay) this.options.onBug(thrown);
      this.fail(bugFailure(thrown));
    }
  }

  protected answerOptions(): StreamOptions {
    const { call, candidate } = this.options;
    const logical = candidate.route.responseModel === 'logical';
    return {
      peek: call.peek,
      logicalModel: logical ? call.peek.model : undefined,
      account: candidate.route.provider.id,
      vendor: vendorOf(candidate.route.provider),
      id: call.request.id,
      created: Math.floor(call.request.at / 1000),
      estimateUsage: (outputChars) => estimateUsage(call, outputChars),
    };
  }

  /** Leaves the call to the next candidate; nothing is committed yet. */
  protected fail(failure: AttemptFailure): void {
    this.abort();
    if (failure.fault) this.#health?.fault(failure.fault, failure.retryAfterMs);
    else this.#health?.abandon();
    this.tell(failure);
  }

  protected tell(failure: AttemptFailure): void {
    this.options.resolve(failure);
  }

  /** Ends an exchange that is no longer awaited. */
  protected forsake(failure: AttemptFailure): void {
    this.options.resolve(failure);
  }

  protected noteContent(): void {
    const now = this.options.clock.monotonic();
    this.options.call.record.firstContentAt ??= now;
    this.#health?.success(now - this.#sentAt);
  }

  #gatherError(chunk: Buffer): void {
    this.chunks.push(chunk);
    this.size += chunk.length;
    if (this.size > MAX_ERROR_BYTES) return this.fail(this.#errorAnswer());
    if (this.size > this.options.maxAnswerBytes)
      this.fail(invalidAnswerFailure('too_large', this.status));
  }

  #errorAnswer(): AttemptFailure {
    const { candidate, clock, call } = this.options;
    if (this.status < 300) return invalidAnswerFailure('not_a_stream', this.status);
    const body = Buffer.concat(this.chunks).toString('utf8');
    const answer = { status: this.status, headers: this.headers, body };
    return missingFailure(answer, call.peek) ?? statusFailure(answer, candidate.route, clock.now());
  }

  /** Adds the status of a head that had arrived before. */
  #seen(failure: AttemptFailure): AttemptFailure {
    return this.status === 0 ? failure : { ...failure, upstreamStatus: this.status };
  }
}
