import type { IncomingMessage } from 'node:http';
import type { Handler, HttpExchange } from '../../surfaces/http-exchange.ts';

/** Access for pages of configured origins (config: server.cors.origins). */
export interface Cors {
  /** Answers of this handler may be read by those pages. */
  shared(handler: Handler): Handler;
  /** Answers what browsers ask before they call; `otherwise` answers every other request. */
  preflight(allow: string, otherwise: Handler): Handler;
}

const MAX_AGE_SECONDS = '600';
const EXPOSED =
  'x-request-id, request-id, x-should-retry, idempotent-replayed, x-gateway-model, x-gateway-provider, x-gateway-attempts, x-gateway-cost, x-gateway-dropped-fields, x-gateway-limit, mcp-session-id, retry-after, location, content-range, accept-ranges, content-disposition';

/** Undefined without origins: then no header of the kind is ever sent (requirement ops.cors-and-host). */
export function createCors(origins: readonly string[]): Cors | undefined {
  if (origins.length === 0) return undefined;
  const known = new Set(origins);

  /** True when the page may read the answer, which then says so. */
  const mark = ({ request, response }: HttpExchange): boolean => {
    response.setHeader('vary', 'origin');
    const { origin } = request.headers;
    if (origin === undefined || !known.has(origin)) return false;
    response.setHeader('access-control-allow-origin', origin);
    return true;
  };

  return {
    shared: (handler) => (exchange) => {
      if (mark(exchange)) exchange.response.setHeader('access-control-expose-headers', EXPOSED);
      return handler(exchange);
    },
    preflight: (allow, otherwise) => async (exchange) => {
      if (!isPreflight(exchange.request) || !mark(exchange)) return otherwise(exchange);
      // The headers that a client library sends are its own affair; keys are what protects.
      const headers = exchange.request.headers['access-control-request-headers'];
      return {
        status: 204,
        headers: {
          'access-control-allow-methods': allow,
          'access-control-max-age': MAX_AGE_SECONDS,
          ...(headers !== undefined && { 'access-control-allow-headers': headers }),
        },
      };
    },
  };
}

function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined;
}
