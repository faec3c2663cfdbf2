import { ServerResponse } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import { createIdSource } from '../../../src/core/ids.ts';
import type { PipeableBody } from '../../../src/inference/types.ts';
import { createReadTogether } from '../../../src/server/console/read-together.ts';
import type { RouteSpec } from '../../../src/server/http/routes.ts';
import type { Handler, HttpExchange } from '../../../src/surfaces/http-exchange.ts';
import { bodySource, roomyBudget } from '../../support/body-intake.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

interface Part {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

let seen: HttpExchange[];
let refusedHosts: string[];
let streamed: { isDestroyed: boolean };

const telling =
  (name: string): Handler =>
  async (exchange) => {
    seen.push(exchange);
    const { path, search } = exchange;
    return { status: 200, body: { name, path, search } };
  };

function routes(): RouteSpec[] {
  const stream = { destroy: () => void (streamed.isDestroyed = true) } as unknown as PipeableBody;
  const json = { 'content-type': 'application/json' };
  const resource = (path: string, GET: Handler): RouteSpec => ({
    path,
    envelope: 'resource',
    methods: { GET },
  });
  return [
    resource('/v1/:kind/:id', telling('any')),
    resource('/v1/agents/:id', telling('agent')),
    resource('/v1/agents/all', telling('literal')),
    resource('/v1/agents', telling('agents')),
    resource('/v1/files/**', telling('files')),
    resource('/v1/empty', async () => ({ status: 200, headers: json })),
    resource('/v1/bytes', async () => ({ status: 202, headers: json, body: Buffer.from('[1]') })),
    resource('/v1/text', async () => ({
      status: 200,
      headers: { 'content-type': 'text/plain' },
      body: Buffer.from('a'),
    })),
    resource('/v1/stream', async () => ({
      type: 'stream',
      status: 200,
      headers: json,
      body: stream,
    })),
    resource('/v1/refused', async () => {
      throw new GatewayError('insufficient_scope');
    }),
    { path: '/v1/posted', envelope: 'resource', methods: { POST: telling('posted') } },
    { path: '/hidden', envelope: 'resource', methods: { GET: telling('hidden') } },
  ];
}

/** Asks for the answers to these reads. */
async function ask(reads: readonly string[], headers: IncomingHttpHeaders = {}) {
  const clock = createFakeClock();
  const bodies = roomyBudget(clock);
  const handler = createReadTogether(
    {
      clock,
      bodies,
      ids: createIdSource(clock),
      onBug: expect.fail,
      routes: routes(),
      guard: ({ headers: { host } }) => {
        if (host === 'evil') refusedHosts.push(host);
        if (host === 'evil') throw new GatewayError('host_not_allowed');
      },
    },
    (path) => path.startsWith('/v1/'),
  );
  const request = Readable.from([]) as unknown as IncomingMessage;
  const search = `?${new URLSearchParams(reads.map((read) => ['read', read]))}`;
  Object.assign(request, { method: 'GET', url: `/together${search}`, rawHeaders: [], headers });
  const response = new ServerResponse(request);
  const exchange = {
    ...bodySource(request, response, bodies),
    response,
    search,
    path: '/together',
  };
  const reply = await handler(exchange as HttpExchange);
  return { request, reply };
}

async function parts(...reads: string[]): Promise<Part[]> {
  const { reply } = await ask(reads);
  expect(reply).toMatchObject({ status: 200, headers: { 'content-type': 'application/json' } });
  return JSON.parse(String(reply.body)).data;
}

describe('several reads in one', () => {
  beforeEach(() => {
    seen = [];
    refusedHosts = [];
    streamed = { isDestroyed: false };
  });

  it('are answered in their order, each with its own query', async () => {
    expect(await parts('/v1/agents?limit=2&after=a%2Fb', '/v1/bytes', '/v1/agents')).toEqual([
      { status: 200, body: { name: 'agents', path: '/v1/agents', search: '?limit=2&after=a%2Fb' } },
      { status: 202, body: [1] },
      { status: 200, body: { name: 'agents', path: '/v1/agents', search: '' } },
    ]);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(2);
  });

  it.each([
    ['/v1/agents/all', 'literal'],
    ['/v1/agents/a', 'agent'],
    ['/v1/models/a', 'any'],
  ])('take the path %s to the closest route', async (path, name) => {
    expect(await parts(path)).toMatchObject([{ status: 200, body: { name } }]);
  });

  it.each([
    '/hidden',
    '/v1/posted',
    '/v1/files/a/b',
    '/v1/agents/a/b/c',
    '/v1/agents/',
    '/v1/agents/all/x',
    '/x/v1/agents',
    '',
  ])('find nothing at %j', async (path) => {
    expect(await parts(path)).toMatchObject([
      { status: 404, body: { error: { message: 'pages read no such path' } } },
    ]);
    expect(seen).toEqual([]);
  });

  it('leave the others as they are where one is refused', async () => {
    expect(await parts('/v1/refused', '/v1/agents')).toMatchObject([
      { status: 403, body: { error: 'insufficient_scope' } },
      { status: 200, body: { name: 'agents' } },
    ]);
  });

  it('tell an answer without a body as null', async () => {
    expect(await parts('/v1/empty')).toEqual([{ status: 200, body: null }]);
  });

  it('pass the guard of requests one by one', async () => {
    const { reply } = await ask(['/v1/agents', '/v1/agents'], { host: 'evil' });
    expect(JSON.parse(String(reply.body)).data).toMatchObject([{ status: 403 }, { status: 403 }]);
    expect(refusedHosts).toHaveLength(2);
    expect(seen).toEqual([]);
  });

  it('see the headers of the call, each a copy of its own', async () => {
    const { request } = await ask(['/v1/agents', '/v1/agents/all'], { accept: 'a' });
    const [one, other] = seen.map((exchange) => exchange.request);
    expect(one?.headers).toEqual({ accept: 'a' });
    expect(one?.url).toBe('/v1/agents');
    expect(other?.url).toBe('/v1/agents/all');
    expect(one?.headers).not.toBe(other?.headers);
    expect(one?.headers).not.toBe(request.headers);
    expect(request.url).toMatch(/^\/together/);
  });

  it('are 1 to 16', async () => {
    expect(await parts(...Array.from({ length: 16 }, () => '/v1/agents'))).toHaveLength(16);
    const message = 'read: expected 1 to 16 paths';
    const refusal = { code: 'invalid_request', param: 'read', message };
    await expect(ask([])).rejects.toMatchObject(refusal);
    const many = Array.from({ length: 17 }, () => '/v1/agents');
    await expect(ask(many)).rejects.toMatchObject(refusal);
  });

  it('refuse what is not JSON, and a stream, which is let go', async () => {
    const refusal = { code: 'invalid_request', param: 'read' };
    await expect(ask(['/v1/text'])).rejects.toMatchObject(refusal);
    await expect(ask(['/v1/stream'])).rejects.toMatchObject(refusal);
    expect(streamed.isDestroyed).toBe(true);
  });
});
