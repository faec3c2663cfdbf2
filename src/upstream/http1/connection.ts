import { Buffer } from 'node:buffer';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import type { ReadTurns } from '../../core/turns/read-turns.ts';
import type { Clock, Timer } from '../../core/time/clock.ts';
import type { SpooledBody } from '../../core/memory/spooled-body.ts';
import { openTunnel } from '../proxy/open-tunnel.ts';
import { connectOver, connectSocket } from './connect-socket.ts';
import type { Origin } from './connect-socket.ts';
import type { Exchange, ExchangeConnection } from './exchange.ts';
import type { UpstreamError } from '../transport.ts';
import type { Reach } from './reach.ts';
import { describeShown } from './refused-certificate.ts';
import { ResponseParser } from './response-parser.ts';
import { toUpstreamError } from './to-upstream-error.ts';

/** A body up to this size is sent in one piece with the head: copying it costs less than two writes. */
const MAX_JOINED_BYTES = 64 * 1024;

/** Margin for a server's clock and the way to it, taken off the time that it keeps a connection. */
const KEEP_ALIVE_MARGIN_MS = 2000;
const MAX_KEEP_ALIVE_MS = 10 * 60 * 1000;

/** Larger bodies are freed once they are sent, and so are not sent again. */
const MAX_RESENT_BYTES = 1024 * 1024;

/** Sweeps of the pool, a second apart, for which a break counts as one of the time before the request. */
const RESEND_SWEEPS = 2;

/** Codes of a connection that the other side closed. */
const CLOSED: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

export interface ConnectionSettings {
  clock: Clock;
  connectTimeoutMs: number;
  /** Time for which an unused connection is kept when the server names none, in ms. */
  keepAliveMs: number;
  readBuffer: Buffer;
  /** Shared by all connections. */
  readTurns: ReadTurns;
  reach: Reach;
}

/** The pool of a connection. */
export interface ConnectionOwner {
  onConnected(connection: Connection): void;
  /** An answer is complete, or a request was taken back before it was written. */
  onFree(connection: Connection): void;
  /** Exactly one of this and the next is called, once; afterwards the connection does nothing more. */
  onClosed(connection: Connection): void;
  onConnectFailed(connection: Connection, error: UpstreamError): void;
  /** The connection broke before anything of the exchange was written. */
  onUnsent(exchange: Exchange): void;
  /** The connection broke as the exchange was written, which may be sent once more on a new one. */
  onLost(exchange: Exchange): void;
}

/** One socket, and the one exchange at a time that it carries. */
export class Connection implements ExchangeConnection {
  /** Time for which it may be unused, by what the server said last. */
  keepAliveMs: number;
  /** Instant on the monotonic clock at which the pool closes it. */
  idleUntil = 0;
  /** The connection to a proxy until there is a tunnel. */
  #socket: Socket;
  readonly #settings: ConnectionSettings;
  readonly #owner: ConnectionOwner;
  #connectTimer: Timer | undefined;
  #exchange: Exchange | undefined;
  /** Parser of the answer, while the exchange is written and its answer is not complete. */
  #parser: ResponseParser | undefined;
  /** A spooled body is on its way. */
  #sending = false;
  /** Sweeps until the exchange is not sent again; 0 from the first byte of an answer on. */
  #resendSweeps = 0;
  /** The exchange was written; its owner is notified once it will not be sent again. */
  #isWritten = false;
  #paused = false;
  #wasAnswered = false;
  #closed = false;

  constructor(origin: Origin, settings: ConnectionSettings, owner: ConnectionOwner) {
    const { clock, connectTimeoutMs, readBuffer, reach } = settings;
    this.#settings = settings;
    this.#owner = owner;
    this.keepAliveMs = settings.keepAliveMs;
    const onRead = (bytes: Buffer, length: number): void => this.#onRead(bytes, length);
    const options = { readBuffer, reach, onRead };
    let opening: Socket | undefined = undefined;
    if (reach.proxy) {
      this.#socket = opening = openTunnel(reach.proxy, origin, (error, tunnel) => {
        opening = undefined;
        if (!tunnel) return this.close(error);
        this.#socket = connectOver(tunnel, origin, options);
        this.#listen(origin.secure ? 'secureConnect' : undefined);
      });
    } else {
      this.#socket = connectSocket(origin, options);
      this.#listen(origin.secure ? 'secureConnect' : 'connect');
    }
    this.#connectTimer = clock.setTimeout(() => {
      // The opener of the tunnel reports the proxy as the cause.
      if (opening) opening.destroy(connectTimeout());
      else this.close(connectTimeout());
    }, connectTimeoutMs);
  }

  /** Handles the socket's events; `connected` is the one to wait for, undefined where it is connected. */
  #listen(connected: 'connect' | 'secureConnect' | undefined): void {
    const socket = this.#socket;
    socket.on('end', () => this.#onEnd());
    socket.on('error', (error) => this.close(error));
    socket.on('close', () => this.close(undefined));
    if (connected) socket.once(connected, () => this.#onConnected());
    else this.#onConnected();
  }

  /** Takes an exchange; `write` sends it. */
  assign(exchange: Exchange): void {
    this.#exchange = exchange;
    exchange.connection = this;
  }

  /** Sends the request of the exchange that was assigned, unless it was taken back. */
  write({ isKept }: { isKept: boolean }): void {
    const exchange = this.#exchange;
    if (!exchange || this.#closed) return;
    const { method, head, body, repeatable } = exchange.options;
    const isSmall = !body || body.length <= MAX_RESENT_BYTES;
    this.#resendSweeps = isKept && repeatable && isSmall ? RESEND_SWEEPS : 0;
    this.#isWritten = false;
    const onSent = (error?: Error | null): void => {
      if (error || this.#exchange !== exchange) return;
      if (this.#resendSweeps > 0) this.#isWritten = true;
      else exchange.onSent();
    };
    this.#parser = new ResponseParser(method);
    if (!body || body.length === 0) {
      this.#socket.write(head, 'latin1');
    } else if (!Buffer.isBuffer(body)) {
      this.#socket.write(head, 'latin1');
      void this.#send(body, onSent);
    } else if (body.length <= MAX_JOINED_BYTES) {
      const bytes = Buffer.allocUnsafe(head.length + body.length);
      bytes.write(head, 'latin1');
      body.copy(bytes, head.length);
      this.#socket.write(bytes, onSent);
    } else {
      this.#socket.cork();
      this.#socket.write(head, 'latin1');
      this.#socket.write(body, onSent);
      this.#socket.uncork();
    }
  }

  async #send(body: SpooledBody, onSent: () => void): Promise<void> {
    this.#sending = true;
    try {
      await sendBody(this.#socket, body);
    } catch (error) {
      return this.close(error);
    }
    this.#sending = false;
    onSent();
  }

  /** Called once a second. */
  sweep(): void {
    if (this.#resendSweeps > 1) this.#resendSweeps--;
    else this.#endResend();
  }

  #endResend(): void {
    this.#resendSweeps = 0;
    if (!this.#isWritten) return;
    this.#isWritten = false;
    this.#exchange?.onSent();
  }

  abandon(exchange: Exchange): void {
    if (this.#exchange !== exchange) return;
    this.#detach();
    if (this.#parser) this.close(undefined);
    else this.#owner.onFree(this);
  }

  pause(): void {
    this.#paused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#socket.resume();
  }

  /** Lets the process end while the connection is unused. */
  unref(): void {
    this.#socket.unref();
  }

  ref(): void {
    this.#socket.ref();
  }

  /** Destroys the socket; an exchange on it fails or, if unsent, goes back to the pool. */
  close(cause: unknown): void {
    if (this.#closed) return;
    this.#closed = true;
    const isConnecting = this.#connectTimer !== undefined;
    this.#connectTimer?.cancel();
    this.#socket.destroy();
    const exchange = this.#detach();
    if (isConnecting) this.#owner.onConnectFailed(this, this.#toError('connect', cause));
    else this.#owner.onClosed(this);
    if (!exchange) return;
    if (!this.#parser) this.#owner.onUnsent(exchange);
    else if (this.#resendSweeps > 0) this.#owner.onLost(exchange);
    else exchange.fail(this.#toError('reset', cause));
  }

  /** A provider that refuses a client certificate often says no more than a closed connection does. */
  #toError(kind: 'connect' | 'reset', cause: unknown): UpstreamError {
    const { cert } = this.#settings.reach;
    const isClosed = cause === undefined || CLOSED.has(String((cause as { code?: unknown }).code));
    const isSilent = isClosed && !this.#wasAnswered && cert !== undefined;
    return toUpstreamError(kind, cause, isSilent ? describeShown(cert) : undefined);
  }

  #onConnected(): void {
    if (this.#closed) return;
    this.#connectTimer?.cancel();
    this.#connectTimer = undefined;
    this.#owner.onConnected(this);
  }

  /** The sink is called last: whatever it does finds the connection in order. */
  #onRead(bytes: Buffer, length: number): void {
    const parser = this.#parser;
    const exchange = this.#exchange;
    if (this.#closed) return;
    // Unrequested bytes must not be taken for the answer to the next request.
    if (!parser || !exchange) return this.close(undefined);
    // A read that filled the buffer: there is more.
    if (length === bytes.length && !this.#settings.readTurns.take(length)) this.#giveTurn();
    this.#wasAnswered = true;
    if (this.#resendSweeps > 0) this.#endResend();
    parser.push(bytes, length);
    const { head, data, error, complete } = parser;
    if (error) {
      this.#detach();
      this.close(error);
    } else if (complete) {
      this.#detach();
      this.#endAnswer(parser);
    }
    if (head) exchange.onHead(head);
    if (data) exchange.onData(data);
    if (error) exchange.fail(error);
    else if (complete) exchange.onEnd();
  }

  #giveTurn(): void {
    this.#socket.pause();
    this.#settings.readTurns.wait(() => {
      if (!this.#paused && !this.#closed) this.#socket.resume();
    });
  }

  #onEnd(): void {
    const exchange = this.#exchange;
    if (!exchange || !this.#parser?.finish()) return this.close(undefined);
    this.#detach();
    this.close(undefined);
    exchange.onEnd();
  }

  #endAnswer(parser: ResponseParser): void {
    this.#parser = undefined;
    this.keepAliveMs = this.#keepAliveOf(parser);
    // A server that answers before it has the whole request may leave the rest of it unread.
    const isSent = !this.#sending && this.#socket.writableLength === 0;
    const isClean = isSent && !parser.overrun;
    if (!isClean || this.keepAliveMs <= 0) return this.close(undefined);
    this.resume();
    this.#owner.onFree(this);
  }

  #keepAliveOf({ response }: ResponseParser): number {
    if (!response?.persistent) return 0;
    if (response.keepAliveMs === undefined) return this.#settings.keepAliveMs;
    return Math.min(response.keepAliveMs - KEEP_ALIVE_MARGIN_MS, MAX_KEEP_ALIVE_MS);
  }

  #detach(): Exchange | undefined {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    if (exchange) exchange.connection = undefined;
    return exchange;
  }
}

function connectTimeout(): Error {
  return Object.assign(new Error('no connection in time'), { code: 'ETIMEDOUT' });
}

/**
 * Writes a body as fast as the socket takes it. Resolves when all of it is written or the socket was
 * destroyed; rejects when the body cannot be read or is not as long as it says.
 */
async function sendBody(socket: Writable, body: SpooledBody): Promise<void> {
  let sent = 0;
  for await (const chunk of body.open()) {
    if (socket.destroyed) return;
    sent += chunk.length;
    if (sent > body.length) break;
    if (!socket.write(chunk)) await drained(socket);
  }
  if (sent !== body.length && !socket.destroyed)
    throw new Error('the request body is not as long as announced');
}

function drained(socket: Writable): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
  });
}
