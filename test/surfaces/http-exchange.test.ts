import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it, vi } from 'vitest';
import { systemClock } from '../../src/core/time/clock.ts';
import { createIdSource } from '../../src/core/ids.ts';
import { toWebResponse } from '../../src/server/http/send-outgoing.ts';
import { answerExchange } from '../../src/surfaces/http-exchange.ts';
import type { Handler, HttpExchange } from '../../src/surfaces/http-exchange.ts';
import { roomyBudget } from '../support/body-intake.ts';
import { StoreError } from '../../src/store/store.ts';

async function exchangeOf(url: string): Promise<Pick<HttpExchange, 'path' | 'search'>> {
  const seen: HttpExchange[] = [];
  await answerTo(async (exchange) => {
    seen.push(exchange);
    return { status: 204 };
  }, url);
  return seen[0]!;
}

async function answerTo(
  handler: Handler,
  url = '/',
): Promise<{ answer: Response; bugs: unknown[] }> {
  const bugs: unknown[] = [];
  const answer = await answerExchange(
    {
      request: { url, headers: {} } as IncomingMessage,
      response: {} as ServerResponse,
      envelope: 'flat',
    },
    handler,
    {
      clock: systemClock,
      ids: createIdSource(systemClock),
      bodies: roomyBudget(),
      onBug: (thrown) => bugs.push(thrown),
    },
  );
  return { answer: toWebResponse(answer), bugs };
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

it.each([
  ['unavailable', 503, 'the store is not available'],
  ['full', 503, 'the store is not available'],
  ['invalid_key', 500, 'internal error'],
  ['invalid_commit', 500, 'internal error'],
] as const)('tells %s of the store with %s', async (code, status, error) => {
  const failure = new StoreError(code, 'of its own words');
  const { answer, bugs } = await answerTo(() => Promise.reject(failure));
  expect([answer.status, await answer.json()]).toEqual([status, { error }]);
  // What is worth another try is no bug, and the other way round.
  expect(bugs).toEqual(status === 500 ? [failure] : []);
  expect(answer.headers.has('retry-after')).toBe(status === 503);
});

it('writes a long answer in turns, to the same bytes', async () => {
  const body = { data: Array.from({ length: 5000 }, (_, index) => ({ index, text: 'ü"x' })) };
  const native = vi.spyOn(JSON, 'stringify');
  const { answer } = await answerTo(async () => ({ status: 201, body }));
  const longest = Math.max(...native.mock.results.map(({ value }) => String(value).length));
  native.mockRestore();
  expect(longest).toBeLessThan(64 * 1024);
  expect(answer.status).toBe(201);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(await answer.text()).toBe(JSON.stringify(body));
});
