import { Buffer } from 'node:buffer';
import type { Clock } from '../core/time/clock.ts';
import { GatewayError, toGatewayError } from '../core/errors.ts';
import type { ActiveExchanges } from '../inference/active-exchanges.ts';
import type { Relay } from '../inference/relay.ts';
import type { ClientConnection, PipeableBody } from '../inference/types.ts';
import { WAITING } from '../inference/failures.ts';
import { UpstreamStream } from '../inference/upstream-stream.ts';
import type { Lapse } from '../inference/watchdog.ts';
import type { Timeouts } from '../routing/catalog.ts';
import type { RefusedAnswer, UpstreamError, UpstreamHeaders } from '../upstream/transport.ts';
import { hasNoBody, refusalOf } from './response-head.ts';

/** Bytes are passed as they are: nothing may come between two of them. */
const NO_KEEP_ALIVE = Buffer.alloc(0);

/** The reason of a call that is no longer awaited. */
export const CLIENT_GONE = 'client_gone';

/** Failure of a call, before or after the head of the answer. */
export interface ApiFailure {
  /** Name in the record: `status_503`, `connect`, `timeout_idle`, `client_gone` … */
  readonly reason: string;
  /** Error for the client, where it still can be sent. */
  readonly error: GatewayError;
  /** Status of the API; null where none arrived. */
  readonly status: number | null;
  /** True where no connection could be made, so that nothing of the request was sent. */
  readonly isUnsent: boolean;
}

export interface ApiEnd {
  /** Undefined after a clean end. */
  readonly failure: ApiFailure | undefined;
  /** Sends the client the last bytes, which wait for the settlement of the call. */
  finish(): void;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: UpstreamHeaders;
  readonly body: PipeableBody;
  /** Resolves once, at its end. */
  readonly ended: Promise<ApiEnd>;
  /** Gives it up without an error to the client. */
  abort(): void;
}

export interface ApiExchangeOptions {
  clock: Clock;
  client: ClientConnection;
  timeouts: Timeouts;
  /** Clock.monotonic() at which the call must be over. */
  deadline: number;
  /** True where a second call would do no harm. */
  isSafe: boolean;
  active: ActiveExchanges;
  /** The head of an answer that is passed on, before any of its body. */
  onHead(status: number, headers: UpstreamHeaders): void;
  /** Sees what passes by. */
  onData(chunk: Buffer): void;
  /** The answer broke off after its head: the client must not take a part for the whole. */
  onBroken(failure: ApiFailure): void;
  resolve(result: ApiAnswer | ApiFailure): void;
}

type Phase = 'head' | 'bodiless' | 'body';

/**
 * One call on its way, as the transport's sink: decides by the head, then passes bytes on as fast as
 * the client takes them. Decides exactly once (`resolve`) and ends exactly once.
 */
export class ApiExchange extends UpstreamStream {
  readonly #options: ApiExchangeOptions;
  #phase: Phase = 'head';
  #status: number | null = null;
  #headers: UpstreamHeaders = {};
  #end: ((end: ApiEnd) => void) | undefined;
  /** Bytes that the head still promises; NaN where it does not say. */
  #left = Number.NaN;
  #lastBytes: Buffer | undefined;

  constructor(options: ApiExchangeOptions) {
    const { timeouts, deadline: callDeadline } = options;
    super({ ...options, beforeCommitMs: timeouts.wholeAnswer, callDeadline });
    this.#options = options;
  }

  protected override answered(status: number, headers: UpstreamHeaders): void {
    this.#status = status;
    this.#headers = headers;
    const refusal = refusalOf(status);
    if (refusal) return this.#fail(`status_${status}`, refusal);
    this.commit(NO_KEEP_ALIVE);
    this.#options.onHead(status, headers);
    this.#left = Number.parseInt(String(headers['content-length']), 10);
    if (hasNoBody(status)) this.#phase = 'bodiless';
    else this.#resolve();
  }

  protected override received(chunk: Buffer): void {
    if (this.#phase !== 'body') return;
    this.#options.onData(chunk);
    this.#left -= chunk.length;
    // The client takes an answer for whole as soon as it has all that its head promised.
    if (this.#left === 0) this.#lastBytes = chunk;
    else this.pass(chunk);
  }

  protected override finished(): void {
    if (this.#phase === 'head') return;
    if (this.#phase === 'bodiless') this.#resolve();
    this.close();
    this.#end?.({ failure: undefined, finish: () => this.relay?.end(this.#lastBytes) });
  }

  protected override failed(error: UpstreamError): void {
    if (error.kind === 'waiting')
      return this.#fail(WAITING, new GatewayError('no_route_succeeded'));
    if (error.answer) return this.#refuseCoded(error.answer);
    const isUnsent = error.kind === 'connect';
    const told = isUnsent
      ? new GatewayError('api_unreachable', { cause: error })
      : new GatewayError('upstream_interrupted', { cause: error, ...this.#retry() });
    this.#fail(error.kind, told, isUnsent);
  }

  protected override lapsed(lapse: Lapse): void {
    if (this.isWaiting) return this.#fail(WAITING, new GatewayError('no_route_succeeded'));
    this.#fail(lapse, new GatewayError('upstream_timeout', this.#retry()));
  }

  protected override clientLeft(): void {
    const message = 'the client closed the connection';
    const reason = this.isWaiting ? WAITING : CLIENT_GONE;
    this.#fail(reason, new GatewayError('upstream_interrupted', { message }));
  }

  protected override stopped(): void {
    this.#fail('shutting_down', new GatewayError('shutting_down', this.#retry()));
  }

  /** An answer that has to be read came in a content coding that was not asked for. */
  #refuseCoded({ status }: RefusedAnswer): void {
    this.#status = status;
    const message = 'the API answered in a content coding that was not asked for';
    const told = new GatewayError('api_failed', { message, ...this.#retry() });
    this.#fail('encoding_not_offered', refusalOf(status) ?? told);
  }

  #resolve(): void {
    this.#phase = 'body';
    const ended = new Promise<ApiEnd>((resolve) => {
      this.#end = resolve;
    });
    this.#options.resolve({
      status: this.#status as number,
      headers: this.#headers,
      body: (this.relay as Relay).body,
      ended,
      abort: () => this.giveUp(),
    });
  }

  #fail(reason: string, error: GatewayError, isUnsent = false): void {
    this.abort();
    const failure = { reason, error: toGatewayError(error), status: this.#status, isUnsent };
    if (this.#phase !== 'body') return this.#options.resolve(failure);
    this.relay?.body.destroy();
    if (reason !== CLIENT_GONE) this.#options.onBroken(failure);
    this.#end?.({ failure, finish: () => undefined });
  }

  /** Forbids clients to repeat a call that may have taken effect. */
  #retry(): { retry?: false } {
    return this.#options.isSafe ? {} : { retry: false };
  }
}
