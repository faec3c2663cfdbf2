import { Buffer } from 'node:buffer';
import { ReadTurns } from '../../core/turns/read-turns.ts';
import { systemClock } from '../../core/time/clock.ts';
import type { Clock } from '../../core/time/clock.ts';
import type {
  ReachSettings,
  Transport,
  UpstreamCall,
  UpstreamError,
  UpstreamSink,
} from '../transport.ts';
import { Exchange } from './exchange.ts';
import { OriginPools } from './origin-pools.ts';
import { createReach } from './reach.ts';
import type { Reach } from './reach.ts';
import { createRequestHead, offeredCodings } from './request-head.ts';
import { toUpstreamError } from './to-upstream-error.ts';

export interface Http1TransportOptions {
  /** Connections per origin; further requests wait. Default: as many as there are requests at once. */
  connections?: number;
  /** Time limit for name, TCP and TLS together. Default 10,000 ms. */
  connectTimeoutMs?: number;
  /** Time for which an unused connection is kept when the server names none. Default 30,000 ms. */
  keepAliveMs?: number;
  /** Origins whose connections are kept. Default 256. */
  maxPools?: number;
  /** Bytes that a compressed answer may decode to. Default 256 MiB. */
  maxDecodedBytes?: number;
  /** Authorities (PEM) whose certificates are trusted. Default: those that Node trusts. */
  ca?: string;
  clock?: Clock;
}

/** Transport that also makes connections with settings of TLS and through proxies. */
export interface Http1Transport extends Transport {
  /** Sends with other settings than the transport's own; `close` is left to this one. */
  reaching(settings: ReachSettings): Transport;
}

const READ_BYTES = 64 * 1024;

const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD']);

const NOTHING_TO_STOP: UpstreamCall = {
  abort: () => undefined,
  pause: () => undefined,
  resume: () => undefined,
};

/**
 * Sends requests over kept HTTP/1.1 connections (RFC 9112), one exchange at a time on each, straight
 * from the socket to the sink: no stream and no promise in between. Follows no redirect, and has no timeout but the one to connect. The sink is never called before `send` returns.
 *
 * A request is sent once, with two exceptions. Where nothing of it was written, because its kept connection
 * turned out to be closed, another connection is used instead. Where a kept connection breaks as a repeatable
 * request goes out, before any byte of an answer, it is sent once more, on a new connection (RFC 9110, 9.2.2
 * and RFC 9112, 9.3.1): a server that closes an unused connection does so without knowing of the request.
 */
export function createHttp1Transport(options: Http1TransportOptions = {}): Http1Transport {
  const { connections = Infinity, maxPools = 256 } = options;
  const { connectTimeoutMs = 10_000, keepAliveMs = 30_000, clock = systemClock } = options;
  const { maxDecodedBytes = 256 * 1024 * 1024, ca } = options;
  const pools = new OriginPools({
    connections,
    maxPools,
    connectTimeoutMs,
    keepAliveMs,
    clock,
    readBuffer: Buffer.allocUnsafeSlow(READ_BYTES),
    readTurns: new ReadTurns(),
  });

  const sendBy =
    (reach: Reach): Transport['send'] =>
    (request, sink) => {
      const { url, method, body, raw, repeatable = SAFE.has(method) } = request;
      let exchange: Exchange;
      try {
        const pool = pools.poolFor(url, reach);
        const head = createRequestHead(request, pool.origin.host);
        const offered = raw ? undefined : offeredCodings(request);
        const options = { sink, method, head, body, repeatable, offered, maxDecodedBytes };
        exchange = new Exchange(options);
        pool.send(exchange);
      } catch (error) {
        return refuse(sink, toUpstreamError('connect', error));
      }
      return exchange;
    };

  return {
    send: sendBy(createReach({ ca })),
    reaching: (settings) => ({
      send: sendBy(createReach(settings)),
      close: () => Promise.resolve(),
    }),
    close() {
      pools.close();
      return Promise.resolve();
    },
  };
}

function refuse(sink: UpstreamSink, error: UpstreamError): UpstreamCall {
  queueMicrotask(() => sink.onError(error));
  return NOTHING_TO_STOP;
}
