import { describe, expect, it } from 'vitest';
import { createCors } from '../../../src/server/http/cors.ts';
import type { Handler, HttpExchange } from '../../../src/surfaces/http-exchange.ts';

const PAGE = 'https://app.example';
const ASKS = { 'access-control-request-method': 'POST' };
const handler: Handler = async () => ({ status: 200 });

function setUp(method: string, headers: Record<string, string>) {
  const set = new Map<string, string>();
  const response = { setHeader: (name: string, value: string) => set.set(name, value) };
  const exchange = { request: { method, headers }, response } as unknown as HttpExchange;
  const cors = createCors([PAGE]);
  if (!cors) throw new Error('no access');
  return { cors, exchange, set };
}

describe('access for pages of other origins', () => {
  it('is not there without a configured origin', () => {
    expect(createCors([])).toBeUndefined();
  });

  it('lets a page of a configured origin read an answer and its headers', async () => {
    const { cors, exchange, set } = setUp('GET', { origin: PAGE });
    expect(await cors.shared(handler)(exchange)).toEqual({ status: 200 });
    expect(set.get('vary')).toBe('origin');
    expect(set.get('access-control-allow-origin')).toBe(PAGE);
    expect(set.get('access-control-expose-headers')).toContain('x-request-id');
  });

  it.each(['retry-after', 'location', 'content-range', 'accept-ranges', 'content-disposition'])(
    'lets it read what answers of the gateway say in %s',
    async (name) => {
      const { cors, exchange, set } = setUp('GET', { origin: PAGE });
      await cors.shared(handler)(exchange);
      expect(set.get('access-control-expose-headers')?.split(', ')).toContain(name);
    },
  );

  it.each<Record<string, string>>([{ origin: 'https://evil.example' }, {}])(
    'tells caches alone of it where the headers are %j',
    async (headers) => {
      const { cors, exchange, set } = setUp('GET', headers);
      expect(await cors.shared(handler)(exchange)).toEqual({ status: 200 });
      expect([...set]).toEqual([['vary', 'origin']]);
    },
  );

  it('answers what a browser asks before a call, with the headers that it asks for', async () => {
    const asked = { 'access-control-request-headers': 'x-one, x-two' };
    const { cors, exchange, set } = setUp('OPTIONS', { origin: PAGE, ...ASKS, ...asked });
    expect(await cors.preflight('GET, POST', handler)(exchange)).toEqual({
      status: 204,
      headers: {
        'access-control-allow-methods': 'GET, POST',
        'access-control-max-age': '600',
        'access-control-allow-headers': 'x-one, x-two',
      },
    });
    expect(set.get('access-control-allow-origin')).toBe(PAGE);
  });

  it('allows no headers where a browser asks for none', async () => {
    const { cors, exchange } = setUp('OPTIONS', { origin: PAGE, ...ASKS });
    const { headers } = await cors.preflight('GET', handler)(exchange);
    expect(Object.keys(headers ?? {})).toEqual([
      'access-control-allow-methods',
      'access-control-max-age',
    ]);
  });

  it.each([
    ['another method', 'GET', { origin: PAGE, ...ASKS }],
    ['no call that follows', 'OPTIONS', { origin: PAGE }],
    ['a foreign page', 'OPTIONS', { origin: 'https://evil.example', ...ASKS }],
  ] as const)('leaves a request with %s to others', async (_what, method, headers) => {
    const { cors, exchange } = setUp(method, headers);
    expect(await cors.preflight('GET', handler)(exchange)).toEqual({ status: 200 });
  });
});
