import Anthropic from '@anthropic-ai/sdk';
import Anthropic0 from 'anthropic-0';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { CallOptions, TestGateway } from '../../support/gateway.ts';
import {
  endEvents,
  MESSAGE,
  MESSAGE_START,
  messagesEvents,
  messagesFrames,
  messagesText,
  textEvents,
} from '../../support/messages.ts';
import { beginEvents, sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { SeenRequest, Upstream } from '../../support/stage/upstream.ts';

type Play = (response: ServerResponse, request: SeenRequest) => void;

const HELLO = [{ role: 'user' as const, content: 'hello' }];
const error = (type: string, message: string) => ({ type: 'error', error: { type, message } });

function sendEvents(response: ServerResponse, events: readonly object[]): void {
  beginEvents(response);
  response.end(messagesFrames(events));
}

const answer: Play = (response, { body }) => {
  const { stream } = JSON.parse(body.toString()) as { stream?: boolean };
  const text = [MESSAGE_START, ...textEvents(0, 'fi', 'ne'), ...endEvents()];
  if (stream) sendEvents(response, text);
  else sendJson(response, 200, MESSAGE);
};

describe('POST /v1/messages', () => {
  let first: Upstream;
  let second: Upstream;
  let gateway: TestGateway;
  let plays: { first: Play; second: Play };
  beforeAll(async () => {
    first = await startUpstream((response, request) => plays.first(response, request));
    second = await startUpstream((response, request) => plays.second(response, request));
    const provider = (name: string, url: string, extra: object = {}) => ({
      name,
      type: 'custom',
      base_url: `${url}/v1`,
      auth: { type: 'none' },
      protocols: { messages: true },
      ...extra,
    });
    const rules = {
      drop_betas: ['beta-hidden'],
      refuse_betas: ['beta-refused'],
      quirks: { messages: { drop: ['dropped'], refuse: ['refused'] } },
    };
    const route = (provider: string, priority = 0, upstream_model = 'up') => ({
      provider,
      upstream_model,
      priority,
    });
    gateway = await startGateway(
      {
        providers: [
          provider('first', first.url),
          provider('second', second.url),
          provider('erring', first.url),
          provider('chat', first.url, { protocols: { chat: true } }),
          provider('ruled', first.url, rules),
          provider('neutral', first.url, { header_spelling: 'native' }),
          provider('placed', first.url, {
            headers: { 'Anthropic-Workspace-Id': 'wrkspc_account' },
          }),
          { name: 'vendor', type: 'anthropic', base_url: first.url, api_key: '${secret:env:KEY}' },
        ],
        models: [
          { name: 'm/one', routes: [route('first')] },
          // A refused credential takes all routes of its account out for a while.
          { name: 'm/erring', routes: [route('erring')] },
          // What fails is left alone for a while, so each failure has a candidate of its own.
          ...['down', 'limited', 'early', 'late'].map((name) => ({
            name: `m/${name}`,
            routes: [route('first', 0, name), route('second', 1, name)],
          })),
          { name: 'm/ruled', routes: [route('ruled')] },
          { name: 'm/ruled-then-second', routes: [route('ruled'), route('second', 1)] },
          { name: 'm/neutral', routes: [route('neutral')] },
          { name: 'm/placed', routes: [route('placed')] },
          { name: 'm/chat', routes: [route('chat')] },
          { name: 'm/vendor', routes: [route('vendor')] },
          {
            name: 'm/priced',
            pricing: { input: '1', cache_read: '0.1' },
            routes: [route('first')],
          },
        ],
      },
      { env: { KEY: 'sk-upstream-canary' } },
    );
  });
  beforeEach(() => {
    plays = { first: answer, second: answer };
    first.seen.length = 0;
    second.seen.length = 0;
  });
  afterAll(async () => {
    await gateway.stop();
    await first.close();
    await second.close();
  });

  const post = (model: string, fields: object = {}, options: CallOptions = {}) =>
    gateway.call('POST', '/v1/messages', {
      ...options,
      body: { model: `m/${model}`, max_tokens: 9, messages: HELLO, ...fields },
    });
  const headersOf = async (
    model: string,
    headers: Record<string, string> = {},
  ): Promise<IncomingMessage['headers']> => {
    expect((await post(model, {}, { headers })).status).toBe(200);
    return first.seen.at(-1)?.headers ?? {};
  };
  const clients = [
    { name: 'the client', Client: Anthropic },
    { name: 'the client before it', Client: Anthropic0 as unknown as typeof Anthropic },
  ];

  describe.each(clients)('with $name', ({ Client }) => {
    const connect = (apiKey = gateway.clientKey) =>
      new Client({ baseURL: gateway.url, apiKey, maxRetries: 0 });
    const ask = { model: 'm/one', max_tokens: 9, messages: HELLO };

    it(verifies('auth.messages.carriers', 'answers and streams'), async () => {
      const whole = await connect().messages.create(ask);
      expect(whole).toMatchObject({ type: 'message', content: [{ type: 'text', text: 'fine' }] });
      const stream = connect().messages.stream(ask);
      const final = await stream.finalMessage();
      expect(final).toMatchObject({ content: [{ text: 'fine' }], stop_reason: 'end_turn' });
      expect(stream.request_id).toMatch(/^req_/);
    });

    it('raises the class of each error', async () => {
      const failing = (status: number, type: string): void => {
        plays.first = (response) => sendJson(response, status, error(type, 'no'));
      };
      const refused = async (): Promise<unknown> =>
        connect()
          .messages.create({ ...ask, model: 'm/erring' })
          .catch((e) => e);
      expect(
        await connect('sk-wrong')
          .messages.create(ask)
          .catch((e) => e),
      ).toBeInstanceOf(Client.AuthenticationError);
      failing(400, 'invalid_request_error');
      expect(await refused()).toBeInstanceOf(Client.BadRequestError);
      failing(403, 'permission_error');
      expect(await refused()).toBeInstanceOf(Client.PermissionDeniedError);
      failing(404, 'not_found_error');
      expect(await refused()).toBeInstanceOf(Client.NotFoundError);
      failing(429, 'rate_limit_error');
      expect(await refused()).toBeInstanceOf(Client.RateLimitError);
      failing(529, 'overloaded_error');
      expect(await refused()).toBeInstanceOf(Client.InternalServerError);
    });

    it('raises what fails in the middle of a stream', async () => {
      plays.first = (response) =>
        sendEvents(response, [
          MESSAGE_START,
          ...textEvents(0, 'fi').slice(0, 2),
          error('overloaded_error', 'too busy'),
        ]);
      await expect(connect().messages.stream(ask).finalMessage()).rejects.toBeInstanceOf(
        Client.APIError,
      );
    });
  });

  it(
    verifies('auth.messages.x-api-key-before-bearer', 'belongs to the key in x-api-key'),
    async () => {
      const made = await gateway.admin('POST', '/admin/v1/keys', { name: 'other' });
      const headers = { 'x-api-key': made.body.value as string };
      const { headers: told, status } = await post('one', {}, { headers });
      expect(status).toBe(200);
      const id = told.get('x-request-id') ?? '';
      const record = await eventually(async () => {
        const { body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
        return body.result === 'ok' ? body : undefined;
      });
      expect(JSON.stringify(record)).toContain(made.body.id);
      const limited = await gateway.admin('POST', '/admin/v1/keys', { name: 'rpm', rpm_cap: 1 });
      const carried = { 'x-api-key': limited.body.value as string };
      expect((await post('one', {}, { headers: carried })).status).toBe(200);
      expect((await post('one', {}, { headers: carried })).status).toBe(429);
      expect((await post('one')).status).toBe(200);
    },
  );

  describe('names its version and betas', () => {
    it(verifies('messages.header.version-default', 'in the version that all know'), async () => {
      expect(await headersOf('one')).toMatchObject({ 'anthropic-version': '2023-06-01' });
      expect(await headersOf('one')).not.toHaveProperty('anthropic-beta');
    });

    it(
      verifies('messages.header.forwarded', 'as the client did, but for what the provider hides'),
      async () => {
        const sent = { 'native-version': '2026-10-21', 'native-beta': ' a , beta-hidden,b,a' };
        expect(await headersOf('one', sent)).toMatchObject({
          'anthropic-version': '2026-10-21',
          'anthropic-beta': 'a,beta-hidden,b',
        });
        expect(await headersOf('ruled', sent)).toMatchObject({ 'anthropic-beta': 'a,b' });
      },
    );

    it(verifies('messages.header.version-alias', 'in either spelling'), async () => {
      const alias = { 'anthropic-version': '2025-01-01', 'anthropic-beta': 'a,b' };
      expect(await headersOf('one', alias)).toMatchObject(alias);
      const both = { ...alias, 'native-version': '2026-01-01', 'native-beta': 'b,c' };
      const headers = await headersOf('one', both);
      expect(headers['anthropic-version']).toBe('2026-01-01');
      expect(String(headers['anthropic-beta']).split(',').sort()).toEqual(['a', 'b', 'c']);
    });

    it(verifies('messages.header.upstream-spelling', 'as the provider spells them'), async () => {
      const sent = { 'native-beta': 'a' };
      const neutral = await headersOf('neutral', sent);
      expect(neutral).toMatchObject({ 'native-version': '2023-06-01', 'native-beta': 'a' });
      expect(neutral).not.toHaveProperty('anthropic-version');
      const vendor = await headersOf('vendor', sent);
      expect(vendor).toMatchObject({
        'anthropic-version': '2023-06-01',
        'anthropic-beta': 'a',
        'x-api-key': 'sk-upstream-canary',
      });
      expect(vendor).not.toHaveProperty('native-version');
    });

    it(
      verifies(
        'messages.header.forwarded',
        'with every further header of the vendor, as it came, but for those of the account',
      ),
      async () => {
        const sent = { 'anthropic-workspace-id': 'wrkspc_client', 'anthropic-later': 'a, b;c=1' };
        expect(await headersOf('one', sent)).toMatchObject(sent);
        expect(await headersOf('placed', sent)).toMatchObject({
          ...sent,
          'anthropic-workspace-id': 'wrkspc_account',
        });
        expect(await headersOf('neutral', sent)).not.toHaveProperty('anthropic-later');
      },
    );

    it('not where a client of another protocol says so', async () => {
      const headers = { 'anthropic-version': '1999-01-01', 'native-beta': 'a' };
      expect((await gateway.chat('m/one', { headers })).status).toBe(200);
      expect(first.seen.at(-1)?.headers['anthropic-version']).toBe('2023-06-01');
      expect(first.seen.at(-1)?.headers).not.toHaveProperty('anthropic-beta');
    });
  });

  it(
    verifies(
      'messages.request.compat-rules',
      'keeps, removes or passes over by rules of providers',
    ),
    async () => {
      expect((await post('ruled', { dropped: 1, kept: 1 })).status).toBe(200);
      expect(JSON.parse(first.seen[0]?.body.toString() ?? '')).toEqual({
        model: 'up',
        max_tokens: 9,
        messages: HELLO,
        kept: 1,
      });
      const fields = { refused: 1, dropped: 1 };
      expect((await post('ruled-then-second', fields)).status).toBe(200);
      expect(JSON.parse(second.seen[0]?.body.toString() ?? '')).toMatchObject(fields);
      const beta = { 'anthropic-beta': 'beta-refused' };
      expect((await post('ruled-then-second', {}, { headers: beta })).status).toBe(200);
      expect([first.seen.length, second.seen.length]).toEqual([1, 2]);
      for (const [extra, headers, named] of [
        [{ refused: 1 }, {}, 'refused'],
        [{}, beta, 'beta-refused'],
      ] as const) {
        const { status, body } = await post('ruled', extra, { headers });
        expect([status, body.error.type]).toEqual([400, 'invalid_request_error']);
        expect(body.error.message).toContain(`\`${named}\``);
      }
      expect(first.seen).toHaveLength(1);
    },
  );

  it('names what is wrong with a request', async () => {
    const messages = [
      ...HELLO,
      { role: 'assistant', content: 'a' },
      { role: 'tool', content: 'b' },
    ];
    const { status, body } = await post('one', { messages });
    expect(status).toBe(400);
    expect(body).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
    expect(body.error.message).toContain('messages[2].role');
    expect(first.seen).toHaveLength(0);
  });

  it(
    verifies(
      'messages.request.role-system',
      'messages.request.sampling-ranges',
      'sends what it got',
    ),
    async () => {
      const messages = [...HELLO, { role: 'system', content: 'be brief' }];
      await post('one', { messages });
      expect(JSON.parse(first.seen[0]?.body.toString() ?? '')).toEqual({
        model: 'up',
        max_tokens: 9,
        messages,
      });
    },
  );

  describe('tells statuses', () => {
    it.each([
      { given: 404, type: 'not_found_error' },
      { given: 413, type: 'request_too_large' },
    ])(verifies('messages.status.404-413', 'as they are: $given'), async ({ given, type }) => {
      plays.first = (response) => sendJson(response, given, error(type, 'file not there'));
      const { status, body } = await post('one');
      expect(status).toBe(given);
      expect(body).toMatchObject({ type: 'error', error: { type, message: 'file not there' } });
    });

    it(verifies('messages.status.404-413', '404 for an unknown model'), async () => {
      const { status, body } = await post('nothing');
      expect([status, body.error.type]).toEqual([404, 'not_found_error']);
    });

    it.each([
      { name: 'nothing at all', events: [] },
      { name: 'a start', events: [MESSAGE_START, { type: 'ping' }] },
      { name: 'a start and a stop', events: [MESSAGE_START, { type: 'message_stop' }] },
    ])(
      verifies('messages.status.502-empty-stream', '502 for a stream of $name'),
      async ({ events }) => {
        plays.first = (response) => sendEvents(response, events);
        const { status, body } = await post('one', { stream: true });
        expect([status, body.error.type]).toEqual([502, 'api_error']);
      },
    );

    it(verifies('messages.status.503', '500 only when every candidate answered 500'), async () => {
      plays = {
        first: (response) => sendJson(response, 500, error('api_error', 'broken')),
        second: (response) => sendJson(response, 503, error('overloaded_error', 'busy')),
      };
      expect((await post('one')).status).toBe(500);
      expect((await post('down')).status).toBe(503);
    });

    it(verifies('messages.status.429', '429 only when every candidate answered 429'), async () => {
      const limited: Play = (response) => {
        response.setHeader('retry-after', '7');
        sendJson(response, 429, error('rate_limit_error', 'slow down'));
      };
      plays = { first: limited, second: limited };
      const { status, body, headers } = await post('limited');
      expect([status, body.error.type]).toEqual([429, 'rate_limit_error']);
      expect(headers.get('retry-after')).toBeNull();
      plays.first = (response) => sendJson(response, 503, error('api_error', 'no'));
      expect((await post('limited')).status).toBe(503);
    });
  });

  describe('streams', () => {
    const stream = async (model: string): Promise<string> => {
      const { status, body } = await post(model, { stream: true });
      expect(status).toBe(200);
      return body as string;
    };

    it('from the next candidate when the first one fails in its stream before content', async () => {
      plays.first = (response) =>
        sendEvents(response, [MESSAGE_START, { type: 'ping' }, error('overloaded_error', 'busy')]);
      const text = await stream('early');
      expect(messagesText(text)).toBe('fine');
      expect(messagesEvents(text).filter(({ type }) => type === 'message_start')).toHaveLength(1);
    });

    it(
      verifies('messages.stream.error-in-band', 'an error and no stop when it fails later'),
      async () => {
        plays.first = (response) =>
          sendEvents(response, [
            MESSAGE_START,
            ...textEvents(0, 'fi').slice(0, 2),
            error('overloaded_error', 'busy'),
          ]);
        const events = messagesEvents(await stream('late'));
        const last = events.at(-1);
        expect(last).toMatchObject({ type: 'error', error: { type: 'api_error' } });
        expect(last?.error?.message).toBeTypeOf('string');
        expect(events.map(({ type }) => type)).not.toContain('message_stop');
        expect(second.seen).toHaveLength(0);
      },
    );

    it(
      verifies('messages.stream.event-names', 'events with names although the provider has none'),
      async () => {
        plays.first = (response) => {
          beginEvents(response);
          const frames = messagesFrames([MESSAGE_START, ...textEvents(0, 'fine'), ...endEvents()]);
          response.end(frames.replaceAll(/^event: .*\n/gm, ''));
        };
        expect(messagesText(await stream('one'))).toBe('fine');
      },
    );

    it(
      verifies('messages.usage.cache-accounting', 'and charges what was counted last'),
      async () => {
        const start = structuredClone(MESSAGE_START) as { message: { usage: object } };
        start.message.usage = { input_tokens: 18_000, output_tokens: 1 };
        const usage = { input_tokens: 18, cache_read_input_tokens: 17_982, output_tokens: 5 };
        plays.first = (response) =>
          sendEvents(response, [start, ...textEvents(0, 'x'), ...endEvents('end_turn', usage)]);
        const { headers } = await post('priced', { stream: true });
        const record = await eventually(async () => {
          const id = headers.get('x-request-id') ?? '';
          const { body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
          return body.result === 'ok' ? body : undefined;
        });
        // 18 x 1 + 17982 x 0.1, a millionth each.
        expect(Number(record.cost)).toBeCloseTo(0.0018162, 9);
        expect(record.usage).toMatchObject({ cache_read_tokens: 17_982 });
      },
    );
  });

  describe('counts tokens', () => {
    const count = (fields: object = {}, options: CallOptions = {}) =>
      gateway.call('POST', '/v1/messages/count_tokens', {
        ...options,
        body: { model: 'm/priced', messages: HELLO, ...fields },
      });

    it(verifies('messages.count-tokens', 'as a provider does, free of charge'), async () => {
      plays.first = (response) => sendJson(response, 200, { input_tokens: 42 });
      const headers = { 'x-api-key': gateway.clientKey };
      const counted = await count({ system: 'be brief' }, { key: '', headers });
      expect([counted.status, counted.body]).toEqual([200, { input_tokens: 42 }]);
      expect(first.seen[0]?.url).toBe('/v1/messages/count_tokens');
      expect(JSON.parse(first.seen[0]?.body.toString() ?? '')).toMatchObject({ model: 'up' });
      const record = await eventually(async () => {
        const id = counted.headers.get('x-request-id') ?? '';
        const { body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
        return body.result === 'ok' ? body : undefined;
      });
      expect(Number(record.cost)).toBe(0);
      const client = new Anthropic({ baseURL: gateway.url, apiKey: gateway.clientKey });
      const asked = { model: 'm/priced', messages: HELLO };
      expect(await client.messages.countTokens(asked)).toMatchObject({ input_tokens: 42 });
    });

    it.each([
      { name: 'is down', play: (response) => sendJson(response, 503, {}) },
      { name: 'makes no sense', play: (response) => sendJson(response, 200, { tokens: 1 }) },
      {
        name: 'knows no such path',
        play: (response) => sendJson(response, 404, error('not_found_error', 'no such path')),
      },
    ] satisfies { name: string; play: Play }[])(
      verifies('messages.count-tokens', 'by an estimate when the provider $name'),
      async ({ play }) => {
        plays.first = play;
        const { status, body } = await count();
        expect(status).toBe(200);
        expect(body.input_tokens).toBeGreaterThan(0);
        const image = { type: 'image', source: { type: 'base64', data: 'A'.repeat(90_000) } };
        const longer = await count({ messages: [{ role: 'user', content: [image] }] });
        expect(longer.body.input_tokens).toBeGreaterThan(1000);
        expect(longer.body.input_tokens).toBeLessThan(5000);
      },
    );

    it('by an estimate when no route speaks the protocol', async () => {
      const { status, body } = await count({ model: 'm/chat' });
      expect([status, body.input_tokens > 0]).toEqual([200, true]);
      expect(first.seen).toHaveLength(0);
      expect((await count({ model: 'm/none' })).status).toBe(404);
    });

    it('of nothing that is no request', async () => {
      expect((await count({ messages: 'x' })).status).toBe(400);
      expect((await count({}, { key: 'sk-wrong' })).status).toBe(401);
    });
  });
});
