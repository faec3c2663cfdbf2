import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { systemClock } from '../../src/core/clock.ts';
import { createIdSource } from '../../src/core/ids.ts';
import { serveExchange } from '../../src/surfaces/http-exchange.ts';
import type { HttpExchange } from '../../src/surfaces/http-exchange.ts';

async function exchangeOf(url: string): Promise<Pick<HttpExchange, 'path' | 'search'>> {
  const seen: HttpExchange[] = [];
  const request = { url } as IncomingMessage;
  await serveExchange(
    { request, response: {} as ServerResponse, envelope: 'flat' },
    async (exchange) => {
      seen.push(exchange);
      return { status: 204 };
    },
    { clock: systemClock, ids: createIdSource(systemClock), onBug: () => undefined },
  );
  return seen[0]!;
}

it.each([
  ['/v1/models/acme%2Ffast?q=a%20b', '/v1/models/acme%2Ffast', '?q=a%20b'],
  ['/v1/models', '/v1/models', ''],
  // RFC 9112, 3.2.2: the form that is sent to proxies is to be understood by every server.
  ['http://localhost:8787/v1/models/acme%2Ffast?q=1', '/v1/models/acme%2Ffast', '?q=1'],
  ['http://localhost', '/', ''],
  ['*', '*', ''],
])('reads the target %s', async (url, path, search) => {
  expect(await exchangeOf(url)).toMatchObject({ path, search });
});
