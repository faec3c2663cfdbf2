import { Buffer } from 'node:buffer';
import type { Clock } from '../core/time/clock.ts';
import { GatewayError, toGatewayError } from '../core/errors.ts';
import type { ActiveExchange, ActiveExchanges } from '../inference/active-exchanges.ts';
import { createRelay } from '../inference/relay.ts';
import type { Relay } from '../inference/relay.ts';
import type { ClientConnection, PipeableBody } from '../inference/types.ts';
import { WAITING } from '../inference/failures.ts';
import { Watchdog } from '../inference/watchdog.ts';
import type { Lapse } from '../inference/watchdog.ts';
import type { Timeouts } from '../routing/catalog.ts';
import type {
  RefusedAnswer,
  UpstreamCall,
  UpstreamError,
  UpstreamHeaders,
  UpstreamSink,
} from '../upstream/transport.ts';
import { hasNoBody, refusalOf } from './response-head.ts';

/** Bytes are passed as they are: nothing may come between two of them. */
const NO_KEEP_ALIVE = Buffer.alloc(0);

/** The reason of a call that nobody waits for. */
export const CLIENT_GONE = 'client_gone';

/** Failure of a call, before or behind the head of the answer. */
export interface ApiFailure {
  /** For the record: `status_503`, `connect`, `timeout_idle`, `client_gone` … */
  readonly reason: string;
  /** Error for the client where it can still be sent. */
  readonly error: GatewayError;
  /** Status of the API, or null where none arrived. */
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
  /** Resolves once, when no more of it will come. */
  readonly ended: Promise<ApiEnd>;
  /** Gives it up without telling the client. */
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
  /** The answer broke off behind its head: the client must not take a part for the whole. */
  onBroken(failure: ApiFailure): void;
  resolve(result: ApiAnswer | ApiFailure): void;
}

type Phase = 'head' | 'bodiless' | 'body' | 'over';

/**
 * One call on its way, as the transport's sink: decides by the head, then passes bytes on as fast as
 * the client takes them. Decides exactly once (`resolve`) and ends exactly once.
 */
export class ApiExchange implements UpstreamSink, ActiveExchange {
  slot: number | undefined;
  readonly #options: ApiExchangeOptions;
  readonly #relay: Relay;
  readonly #watchdog: Watchdog;
  readonly #forgetClient: () => void;
  #phase: Phase = 'head';
  #status: number | null = null;
  #headers: UpstreamHeaders = {};
  #upstream: UpstreamCall | undefined;
  #isSent = false;
  #end: ((end: ApiEnd) => void) | undefined;
  /** Bytes that the head still promises; NaN where it does not say. */
  #left = Number.NaN;
  #lastBytes: Buffer | undefined;

  constructor(options: ApiExchangeOptions) {
    const { clock, client, timeouts, deadline, active } = options;
    this.#options = options;
    this.#relay = createRelay({
      clock,
      keepAlive: NO_KEEP_ALIVE,
      onDrain: () => this.#pause(false),
    });
    this.#watchdog = new Watchdog({
      clock,
      timeouts,
      minThroughput: undefined,
      beforeCommitMs: timeouts.wholeAnswer,
      callDeadline: deadline,
      onLapse: (lapse) => this.#lapse(lapse),
    });
    this.#forgetClient = client.onGone(() => this.giveUp());
    active.add(this);
  }

  /** Hands over the transport's handle; an exchange that is over by then closes it. */
  attach(upstream: UpstreamCall): void {
    this.#upstream = upstream;
    if (this.#phase === 'over') upstream.abort();
    else if (upstream.isWaiting) this.#watchdog.waiting();
    else this.#isSent = true;
  }

  onPlace(): void {
    this.#isSent = true;
    this.#watchdog.placed();
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    if (this.#phase !== 'head') return;
    this.#status = status;
    this.#headers = headers;
    const refusal = refusalOf(status);
    if (refusal) return this.#fail(`status_${status}`, refusal);
    this.#watchdog.committed();
    this.#options.onHead(status, headers);
    this.#left = Number.parseInt(String(headers['content-length']), 10);
    if (hasNoBody(status)) this.#phase = 'bodiless';
    else this.#commit();
  }

  onData(chunk: Buffer): void {
    if (this.#phase !== 'body') return;
    this.#watchdog.fed(chunk.length);
    this.#options.onData(chunk);
    this.#left -= chunk.length;
    // The client takes an answer for whole as soon as it has all that its head promised.
    if (this.#left === 0) this.#lastBytes = chunk;
    else if (!this.#relay.write(chunk)) this.#pause(true);
  }

  onEnd(): void {
    if (this.#phase === 'over' || this.#phase === 'head') return;
    if (this.#phase === 'bodiless') this.#commit();
    this.#close();
    this.#end?.({ failure: undefined, finish: () => this.#relay.end(this.#lastBytes) });
  }

  onError(error: UpstreamError): void {
    if (this.#phase === 'over') return;
    if (error.kind === 'waiting')
      return this.#fail(WAITING, new GatewayError('no_route_succeeded'));
    if (error.answer) return this.#refuseCoded(error.answer);
    const isUnsent = error.kind === 'connect';
    const told = isUnsent
      ? new GatewayError('api_unreachable', { cause: error })
      : new GatewayError('upstream_interrupted', { cause: error, ...this.#retry() });
    this.#fail(error.kind, told, isUnsent);
  }

  /** An answer that has to be read came in a content coding that was not asked for. */
  #refuseCoded({ status }: RefusedAnswer): void {
    this.#status = status;
    const message = 'the API answered in a content coding that was not asked for';
    const told = new GatewayError('api_failed', { message, ...this.#retry() });
    this.#fail('encoding_not_offered', refusalOf(status) ?? told);
  }

  /** The gateway stops. */
  shutDown(): void {
    this.#fail('shutting_down', new GatewayError('shutting_down', this.#retry()));
  }

  #commit(): void {
    this.#phase = 'body';
    const ended = new Promise<ApiEnd>((resolve) => {
      this.#end = resolve;
    });
    this.#options.resolve({
      status: this.#status as number,
      headers: this.#headers,
      body: this.#relay.body,
      ended,
      abort: () => this.giveUp(),
    });
  }

  /** Nobody waits for the answer any more. */
  giveUp(): void {
    const message = 'the client closed the connection';
    const reason = this.#isSent ? CLIENT_GONE : WAITING;
    this.#fail(reason, new GatewayError('upstream_interrupted', { message }));
  }

  #lapse(lapse: Lapse): void {
    if (!this.#isSent) return this.#fail(WAITING, new GatewayError('no_route_succeeded'));
    this.#fail(lapse, new GatewayError('upstream_timeout', this.#retry()));
  }

  #fail(reason: string, error: GatewayError, isUnsent = false): void {
    if (this.#phase === 'over') return;
    const isCommitted = this.#phase === 'body';
    this.#close();
    this.#upstream?.abort();
    const failure = { reason, error: toGatewayError(error), status: this.#status, isUnsent };
    if (!isCommitted) return this.#options.resolve(failure);
    this.#relay.body.destroy();
    if (reason !== CLIENT_GONE) this.#options.onBroken(failure);
    this.#end?.({ failure, finish: () => undefined });
  }

  /** Forbids to repeat a call that may have taken effect. */
  #retry(): { retry?: false } {
    return this.#options.isSafe ? {} : { retry: false };
  }

  #pause(on: boolean): void {
    if (this.#phase === 'over') return;
    this.#watchdog.paused(on);
    if (on) this.#upstream?.pause();
    else this.#upstream?.resume();
  }

  #close(): void {
    this.#phase = 'over';
    this.#watchdog.stop();
    this.#options.active.delete(this);
    this.#forgetClient();
  }
}
