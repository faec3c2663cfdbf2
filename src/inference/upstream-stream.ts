import type { Buffer } from 'node:buffer';
import type { Clock } from '../core/time/clock.ts';
import type { MinThroughput, Timeouts } from '../routing/catalog.ts';
import type {
  UpstreamCall,
  UpstreamError,
  UpstreamHeaders,
  UpstreamSink,
} from '../upstream/transport.ts';
import type { ActiveExchange, ActiveExchanges } from './active-exchanges.ts';
import { createRelay } from './relay.ts';
import type { Relay } from './relay.ts';
import type { ClientConnection } from './types.ts';
import { Watchdog } from './watchdog.ts';
import type { Lapse } from './watchdog.ts';

export interface UpstreamStreamOptions {
  readonly clock: Clock;
  readonly timeouts: Timeouts;
  /** Milliseconds from sending to commit. */
  readonly beforeCommitMs: number;
  /** Clock.monotonic() at which the call must be over. */
  readonly callDeadline: number;
  /** Default: none. */
  readonly minThroughput?: MinThroughput | undefined;
  /** Absent: a subclass notices by itself that the client is gone. */
  readonly client?: ClientConnection | undefined;
  readonly active: ActiveExchanges;
}

/**
 * One upstream exchange on its way to a client, as the transport's sink: watches its time, notices a
 * client that leaves and a gateway that stops, and passes bytes on as fast as the client takes them.
 * A subclass gives the events their meaning; none reaches it once the exchange is over.
 */
export abstract class UpstreamStream implements UpstreamSink, ActiveExchange {
  slot: number | undefined;
  /** Absent until the answer is passed on. */
  protected relay: Relay | undefined;
  readonly #active: ActiveExchanges;
  readonly #clock: Clock;
  readonly #watchdog: Watchdog;
  readonly #forgetClient: (() => void) | undefined;
  #upstream: UpstreamCall | undefined;
  #isOver = false;

  constructor(options: UpstreamStreamOptions) {
    const { clock, timeouts, minThroughput, beforeCommitMs, callDeadline, active } = options;
    this.#active = active;
    this.#clock = clock;
    this.#watchdog = new Watchdog({
      clock,
      timeouts,
      minThroughput,
      beforeCommitMs,
      callDeadline,
      onLapse: (lapse) => {
        if (!this.#isOver) this.lapsed(lapse);
      },
    });
    this.#forgetClient = options.client?.onGone(() => this.giveUp());
    active.add(this);
  }

  /** Hands over the transport's handle; an exchange that is over by then closes it. */
  attach(upstream: UpstreamCall): void {
    this.#upstream = upstream;
    if (this.#isOver) upstream.abort();
    else if (upstream.isWaiting) this.#watchdog.waiting();
    else this.begun();
  }

  /** Ends an exchange that is no longer awaited. */
  giveUp(): void {
    if (!this.#isOver) this.clientLeft();
  }

  /** Ends the exchange because the gateway stops. */
  shutDown(): void {
    if (!this.#isOver) this.stopped();
  }

  onPlace(): void {
    this.#watchdog.placed();
    this.begun();
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    if (!this.#isOver) this.answered(status, headers);
  }

  onData(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#watchdog.fed(chunk.length);
    this.received(chunk);
  }

  onEnd(): void {
    if (!this.#isOver) this.finished();
  }

  onError(error: UpstreamError): void {
    if (!this.#isOver) this.failed(error);
  }

  protected abstract answered(status: number, headers: UpstreamHeaders): void;
  protected abstract received(chunk: Buffer): void;
  protected abstract finished(): void;
  protected abstract failed(error: UpstreamError): void;
  protected abstract lapsed(lapse: Lapse): void;
  protected abstract clientLeft(): void;
  protected abstract stopped(): void;

  /** Notes that the request is sent and waits for no connection any more. */
  protected begun(): void {}

  protected get isOver(): boolean {
    return this.#isOver;
  }

  /** True as long as the request waits for a connection, or when it was given up before it had one. */
  protected get isWaiting(): boolean {
    return this.#upstream?.isWaiting === true;
  }

  /**
   * Begins to pass the answer on: only silence and the call's deadline count from now on.
   *
   * @param keepAlive sent in silence. Default: a comment of server-sent events
   */
  protected commit(keepAlive?: Buffer): Relay {
    const onDrain = (): void => this.#pause(false);
    this.relay = createRelay({ clock: this.#clock, keepAlive, onDrain });
    this.answering();
    return this.relay;
  }

  /** From now on only silence and the call's deadline count. */
  protected answering(): void {
    this.#watchdog.answering();
  }

  /** Sends bytes to the client; reading pauses until it takes them. */
  protected pass(bytes: Buffer): void {
    if (this.relay?.write(bytes) === false) this.#pause(true);
  }

  /** Ends the exchange; what else comes from upstream is not looked at. */
  protected close(): void {
    this.#isOver = true;
    this.#active.delete(this);
    this.#watchdog.stop();
    this.#forgetClient?.();
  }

  /** The same, and closes the connection upstream. */
  protected abort(): void {
    this.close();
    this.#upstream?.abort();
  }

  #pause(on: boolean): void {
    if (this.#isOver) return;
    this.#watchdog.paused(on);
    if (on) this.#upstream?.pause();
    else this.#upstream?.resume();
  }
}
