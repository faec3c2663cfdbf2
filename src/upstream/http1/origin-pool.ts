import { Connection } from './connection.ts';
import type { ConnectionOwner, ConnectionSettings } from './connection.ts';
import type { Origin } from './connect-socket.ts';
import type { Exchange, ExchangeQueue } from './exchange.ts';
import type { UpstreamError } from '../transport.ts';
import { toUpstreamError } from './to-upstream-error.ts';

export interface OriginPoolSettings extends ConnectionSettings {
  /** Connections at most. */
  connections: number;
}

/** The connections of one origin and the exchanges that wait for one, served in order. */
export class OriginPool implements ConnectionOwner, ExchangeQueue {
  readonly origin: Origin;
  /** Greater than that of the pools used before; the keeper's of the pools. */
  lastUse = 0;
  readonly #settings: OriginPoolSettings;
  readonly #all = new Set<Connection>();
  readonly #connecting = new Set<Connection>();
  readonly #waiting = new Set<Exchange>();
  /** Exchanges that wait for a new connection because a kept one broke; never more than are being made. */
  readonly #lost = new Set<Exchange>();
  /** The last one used is used next, so that the others can grow old. */
  #idle: Connection[] = [];
  /** Free since this tick. */
  #freed: Connection[] = [];
  /** Connections with an exchange that is written in the next turn. */
  #assigned: Connection[] = [];
  #turnAsked = false;
  #closed = false;

  constructor(origin: Origin, settings: OriginPoolSettings) {
    this.origin = origin;
    this.#settings = settings;
  }

  /** No request is on its way, waiting or being answered. */
  get isUnused(): boolean {
    return this.#allWaiting === 0 && this.#all.size === this.#idle.length + this.#freed.length;
  }

  get isEmpty(): boolean {
    return this.#all.size === 0 && this.#allWaiting === 0;
  }

  send(exchange: Exchange): void {
    const connection = this.#takeIdle();
    if (connection) return this.#assign(connection, exchange);
    this.#waiting.add(exchange);
    exchange.queue = this;
    this.#connectMore();
  }

  abandon(exchange: Exchange): void {
    this.#waiting.delete(exchange);
    this.#lost.delete(exchange);
    exchange.queue = undefined;
    const [oldest] = this.#connecting;
    if (oldest && this.#connecting.size > this.#allWaiting) oldest.close(undefined);
  }

  /** Closes connections whose time is up; `now` on the monotonic clock. */
  sweep(now: number): void {
    for (const connection of this.#idle.filter(({ idleUntil }) => idleUntil <= now)) {
      connection.close(undefined);
    }
    for (const connection of this.#all) connection.sweep();
  }

  /** Destroys all sockets; exchanges under way fail. */
  destroy(): void {
    this.#closed = true;
    const cause = closedError();
    for (let next = this.#takeFirst(); next; next = this.#takeFirst()) {
      next.fail(toUpstreamError('connect', cause));
    }
    for (const connection of this.#all) connection.close(cause);
  }

  onConnected(connection: Connection): void {
    this.#connecting.delete(connection);
    const exchange = this.#takeFirst();
    if (!exchange) return this.onFree(connection);
    connection.assign(exchange);
    connection.write({ isKept: false });
  }

  onFree(connection: Connection): void {
    this.#freed.push(connection);
    this.#askTurn();
  }

  onClosed(connection: Connection): void {
    this.#forget(connection);
    this.#connectMore();
  }

  /** One of those that wait fails with it, unless there are attempts enough for all of them. */
  onConnectFailed(connection: Connection, error: UpstreamError): void {
    this.#forget(connection);
    if (this.#allWaiting > this.#connecting.size) {
      this.#takeFirst()?.fail(error);
    }
    this.#connectMore();
  }

  onUnsent(exchange: Exchange): void {
    if (this.#closed) exchange.fail(toUpstreamError('connect', closedError()));
    else this.send(exchange);
  }

  onLost(exchange: Exchange): void {
    exchange.options.repeatable = false;
    if (this.#closed) return exchange.fail(toUpstreamError('reset', closedError()));
    this.#lost.add(exchange);
    exchange.queue = this;
    this.#connectMore();
  }

  #forget(connection: Connection): void {
    this.#all.delete(connection);
    this.#connecting.delete(connection);
    this.#idle = without(this.#idle, connection);
    this.#freed = without(this.#freed, connection);
  }

  get #allWaiting(): number {
    return this.#waiting.size + this.#lost.size;
  }

  /** More exchanges wait than there are connections that they will get. */
  get #needsMore(): boolean {
    const connecting = this.#connecting.size;
    return this.#lost.size > connecting || this.#allWaiting > connecting + this.#freed.length;
  }

  #connectMore(): void {
    const { connections } = this.#settings;
    while (this.#needsMore && this.#all.size < connections && !this.#closed) {
      const connection = new Connection(this.origin, this.#settings, this);
      this.#all.add(connection);
      this.#connecting.add(connection);
    }
  }

  #takeFirst(): Exchange | undefined {
    return takeFrom(this.#lost) ?? takeFrom(this.#waiting);
  }

  #takeIdle(): Connection | undefined {
    const now = this.#settings.clock.monotonic();
    for (let last = this.#idle.pop(); last; last = this.#idle.pop()) {
      if (last.idleUntil > now) return last;
      last.close(undefined);
    }
    return undefined;
  }

  #assign(connection: Connection, exchange: Exchange): void {
    connection.ref();
    connection.assign(exchange);
    this.#assigned.push(connection);
    this.#askTurn();
  }

  #askTurn(): void {
    if (this.#turnAsked) return;
    this.#turnAsked = true;
    setImmediate(this.#turn);
  }

  /**
   * A used connection is idle one tick after its answer and written to one tick after it was taken. So every
   * socket has been polled in between, and one that the server closed, or on which it sent unrequested bytes,
   * is gone before a request is lost on it or takes those bytes for its answer.
   */
  readonly #turn = (): void => {
    this.#turnAsked = false;
    const assigned = this.#assigned;
    const freed = this.#freed;
    this.#assigned = [];
    this.#freed = [];
    for (const connection of assigned) connection.write({ isKept: true });
    const now = freed.length > 0 ? this.#settings.clock.monotonic() : 0;
    for (const connection of freed) {
      const exchange = takeFrom(this.#waiting);
      if (exchange) {
        this.#assign(connection, exchange);
        continue;
      }
      connection.idleUntil = now + connection.keepAliveMs;
      connection.unref();
      this.#idle.push(connection);
    }
  };
}

function takeFrom(queue: Set<Exchange>): Exchange | undefined {
  if (queue.size === 0) return undefined;
  const [exchange] = queue;
  if (!exchange) return undefined;
  queue.delete(exchange);
  exchange.queue = undefined;
  return exchange;
}

function closedError(): Error {
  return new Error('the transport is closed');
}

function without(connections: Connection[], gone: Connection): Connection[] {
  return connections.includes(gone) ? connections.filter((one) => one !== gone) : connections;
}
