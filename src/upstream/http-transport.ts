import type { Dispatcher } from 'undici';
import { Exchange } from './exchange.ts';
import { createOriginPools } from './origin-pools.ts';
import type { OriginPool } from './origin-pools.ts';
import { toUpstreamError } from './to-upstream-error.ts';
import { UpstreamError } from './transport.ts';
import type { Transport, UpstreamCall, UpstreamRequest, UpstreamSink } from './transport.ts';

export interface HttpTransportOptions {
  /** Connections per origin. Default 256. */
  connections?: number;
  /** Requests that may wait for a connection of one origin; more fail at once. Default 4,096. */
  maxWaiting?: number;
  /** Default 10,000 ms. */
  connectTimeoutMs?: number;
  /** How long an unused connection is kept when the server does not say. Default 30,000 ms. */
  keepAliveMs?: number;
  /** Origins whose connections are kept. Default 256. */
  maxPools?: number;
  /** Bytes that a compressed answer may decode to. Default 256 MiB. */
  maxDecodedBytes?: number;
}

const NOTHING_TO_STOP: UpstreamCall = {
  abort: () => undefined,
  pause: () => undefined,
  resume: () => undefined,
};

/**
 * Sends requests over pooled HTTP/1.1 connections, straight from undici's parser to the sink: no
 * stream and no promise in between. Follows no redirect and has no timeout but the one to connect.
 * The sink is never called before `send` returns.
 */
export function createHttpTransport(options: HttpTransportOptions = {}): Transport {
  const { connections = 256, maxWaiting = 4096, maxDecodedBytes = 256 * 1024 * 1024 } = options;
  const { connectTimeoutMs = 10_000, keepAliveMs = 30_000, maxPools = 256 } = options;
  const pools = createOriginPools({ connections, connectTimeoutMs, keepAliveMs, maxPools });

  return {
    send(request, sink) {
      let entry: OriginPool;
      try {
        entry = pools.acquire(request.url.origin);
      } catch (error) {
        return refuse(sink, toUpstreamError(error, false));
      }
      const { pool } = entry;
      if (entry.inFlight > connections + maxWaiting) {
        pools.release(entry);
        return refuse(
          sink,
          new UpstreamError('connect', 'too many requests wait for the provider'),
        );
      }
      const exchange = new Exchange({
        sink,
        request: toDispatch(request),
        dispatch: (dispatched, handler) => pool.dispatch(dispatched, handler),
        maxDecodedBytes,
        onDone: () => pools.release(entry),
      });
      exchange.start();
      return exchange;
    },

    close: () => pools.close(),
  };
}

function refuse(sink: UpstreamSink, error: UpstreamError): UpstreamCall {
  queueMicrotask(() => sink.onError(error));
  return NOTHING_TO_STOP;
}

function toDispatch({ url, method, headers, body }: UpstreamRequest): Dispatcher.DispatchOptions {
  return {
    path: url.pathname + url.search,
    method,
    headers: asksForEncoding(headers) ? headers : [...headers, 'accept-encoding', 'identity'],
    body: body ?? null,
  };
}

/** Without the header a server may compress, which costs more time than it saves on small chunks. */
function asksForEncoding(headers: readonly string[]): boolean {
  for (let index = 0; index < headers.length; index += 2) {
    if (headers[index] === 'accept-encoding') return true;
  }
  return false;
}
