import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CassetteInput } from '../../../src/providers/mock/tape/cassette.ts';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { verifies } from '../../requirements.ts';
import {
  CHAT_PATH,
  chatBody,
  customProvider,
  orderedModel,
  payloads,
  streamedText,
} from '../../support/chat.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askRaw } from '../../support/raw-client.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';

type Reply = NonNullable<CassetteInput['rules']>[number]['reply'];

const cleanups: (() => Promise<unknown>)[] = [];

/** A provider that answers everything as scripted. */
async function mockOf(reply?: Reply): Promise<MockServer> {
  const mock = await startMockServer({ cassette: { rules: reply ? [{ reply }] : [] } });
  cleanups.push(() => mock.close());
  return mock;
}

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => {
  await Promise.all(cleanups.map((cleanup) => cleanup()));
  await gateway.stop();
});

async function declare(collection: string, body: object): Promise<void> {
  const made = await gateway.admin('POST', `/admin/v1/${collection}`, body);
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
}

let sets = 0;
/** Providers at these addresses, called `a1`, `b1`, ..., under names that no other test has. */
async function providersAt(
  ...routes: readonly (string | readonly [url: string, fields: object])[]
): Promise<string[]> {
  const set = ++sets;
  const names = routes.map((_, index) => `${String.fromCodePoint(97 + index)}${set}`);
  for (const [index, route] of routes.entries()) {
    const [url, fields] = typeof route === 'string' ? [route, {}] : route;
    await declare('providers', customProvider(names[index] ?? '', url, fields));
  }
  return names;
}

/** A model whose routes are these providers, in their order; gives its name. */
async function modelOf(providers: readonly string[], fields: object = {}): Promise<string> {
  const name = `m/${providers.join('-')}`;
  await declare('models', orderedModel(name, providers, fields));
  return name;
}

/** Route `a` first, as scripted, then the healthy route `b`. */
async function pair(
  reply: Reply,
  provider: object = {},
): Promise<{ model: string; a: MockServer; b: MockServer }> {
  const a = await mockOf(reply);
  const b = await mockOf();
  const model = await modelOf(await providersAt([a.url, provider], b.url));
  return { model, a, b };
}

const stream = (model: string) =>
  askRaw(gateway.url + CHAT_PATH, {
    key: gateway.clientKey,
    body: chatBody(model, { stream: true }),
  });

describe('the next candidate answers', () => {
  const passing: [string, Reply][] = [
    ['401', { status: 401 }],
    ['402', { status: 402 }],
    ['403', { status: 403 }],
    ['407', { status: 407 }],
    ['408', { status: 408 }],
    ['409', { status: 409 }],
    ['429', { status: 429 }],
    ['500', { status: 500 }],
    ['502', { status: 502 }],
    ['503', { status: 503 }],
    ['529', { status: 529 }],
    [
      'a billing text under 400',
      { status: 400, error: { message: 'Your credit balance is too low' } },
    ],
    ['a connection that breaks before its answer', { cut_before: 'head' }],
    ['a redirect', { status: 302, headers: { location: 'http://elsewhere.example/' }, raw: '' }],
  ];
  it.each(passing)(
    verifies('routing.retryable-set', 'after %s, whole and streamed'),
    async (_name, reply) => {
      const { model, a, b } = await pair(reply);
      const whole = await gateway.chat(model);
      expect([whole.status, whole.body.choices[0].message.content]).toEqual([
        200,
        'You said: hello',
      ]);
      const streamed = await stream(model);
      expect(streamedText(streamed.body.toString())).toBe('You said: hello');
      expect(a.engine.calls().length).toBeGreaterThan(0);
      expect(b.engine.calls()).toHaveLength(2);
    },
  );

  it(verifies('routing.retryable-set', 'after a connection that is refused'), async () => {
    const dead = await startUpstream(() => undefined);
    await dead.close();
    const b = await mockOf();
    const model = await modelOf(await providersAt(dead.url, b.url));
    expect((await gateway.chat(model)).status).toBe(200);
  });

  it.each([404, 413, 415, 422])(
    verifies('routing.retryable-set', "never for the client's own fault: %i is answered at once"),
    async (status) => {
      const { model, b } = await pair({ status, error: { message: 'your fault' } });
      const answer = await gateway.chat(model);
      expect([answer.status, answer.body.error.message]).toEqual([status, 'your fault']);
      expect(b.engine.calls()).toHaveLength(0);
    },
  );

  it(
    verifies(
      'routing.provider-401-not-client-401',
      'and 503 when every one answers 401, streamed too',
    ),
    async () => {
      const a = await mockOf({ status: 401, error: { message: 'Incorrect API key provided' } });
      const model = await modelOf(await providersAt(a.url, a.url));
      expect((await gateway.chat(model)).status).toBe(503);
      expect((await stream(model)).status).toBe(503);
    },
  );
});

describe.concurrent('before the first content', () => {
  const early: [string, Reply][] = [
    ['breaks off after its opening event', { cut_before: 'first_content' }],
    ['announces an error after its opening event', { error_after: 0 }],
    ['sends an event that is not JSON', { malformed: true, chunks: 1 }],
    [
      'ends after nothing but its role',
      {
        raw: {
          content_type: 'text/event-stream',
          body: 'data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\ndata: [DONE]\n\n',
        },
      },
    ],
  ];
  it.each(early)(
    verifies('routing.commit-gate', 'stream.upstream-death', 'a stream that %s is replaced unseen'),
    async (_name, reply) => {
      const { model, b } = await pair(reply);
      const answer = await stream(model);
      const events = payloads(answer.body.toString());
      expect(streamedText(answer.body.toString())).toBe('You said: hello');
      expect(events.filter((event) => event.includes('"role":"assistant"'))).toHaveLength(1);
      expect(events.at(-1)).toBe('[DONE]');
      expect(b.engine.calls()).toHaveLength(1);
    },
  );

  it(
    verifies(
      'routing.commit-gate.both-fail-status',
      'a JSON error with its status is told when nobody is left',
    ),
    async () => {
      for (const [reply, status] of [
        [{ cut_before: 'first_content' }, 503],
        [{ error_after: 0, status: 503 }, 503],
        [{ status: 500 }, 503],
      ] as const) {
        const a = await mockOf(reply);
        const answer = await stream(await modelOf(await providersAt(a.url, a.url)));
        expect([answer.status, answer.headers['content-type']]).toEqual([
          status,
          'application/json',
        ]);
        expect(JSON.parse(answer.body.toString())).toHaveProperty('error.message');
        expect(a.engine.calls()).toHaveLength(2);
      }
    },
  );

  it(
    verifies(
      'errors.x-should-retry',
      'official clients are told not to repeat what may have been done',
    ),
    async () => {
      const cut = await mockOf({ cut_before: 'head' });
      const unread = await mockOf({ malformed: true });
      const hung = await mockOf({ delay_ms: 60_000 });
      const down = await mockOf({ status: 503 });
      const hurried = { timeouts: { first_content: '50ms' } };
      const hints: (string | null)[] = [];
      for (const first of [cut, unread, hung, down]) {
        const fields = first === hung ? hurried : {};
        const model = await modelOf(await providersAt([first.url, fields], down.url));
        const answer = await gateway.chat(model);
        expect(answer.status).toBe(503);
        hints.push(answer.headers.get('x-should-retry'));
      }
      expect(hints).toEqual(['false', 'false', 'false', null]);
    },
  );

  const ROLE = `data: {"choices":[{"index":0,"delta":{"role":"assistant"}}]}\n\n`;
  const PADDED = `data: {"pad":"${'x'.repeat(270_000)}","choices":[]}\n\n`;
  const ANSWER = `data: {"choices":[{"index":0,"delta":{"content":"late"},"finish_reason":"stop"}]}\n\n`;

  /** Names of a provider that sends these bytes and then stays silent, and of a healthy one. */
  const silentAfter = async (sent: string): Promise<string[]> => {
    const a = await startUpstream((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(sent);
    });
    cleanups.push(() => a.close());
    const b = await mockOf();
    return providersAt([a.url, { timeouts: { idle: '100ms', first_content: '20s' } }], b.url);
  };

  it.each([
    ['more than 64 events', ROLE.repeat(70)],
    ['more than 256 KiB', PADDED],
  ])(verifies('routing.commit-gate', '%s are held back and come whole'), async (_name, held) => {
    const answer = await stream(await modelOf(await silentAfter(held + ANSWER)));
    expect(answer.status).toBe(200);
    expect(answer.body.toString().startsWith(held + ANSWER)).toBe(true);
  });

  it(
    verifies('routing.commit-gate', 'more than both is no answer, and nothing of it is shown'),
    async () => {
      const [silent = '', healthy = ''] = await silentAfter(PADDED + ROLE.repeat(65));
      const answer = await stream(await modelOf([silent, healthy]));
      expect(streamedText(answer.body.toString())).toBe('You said: hello');
      expect(answer.body.toString()).not.toContain('xxx');
      expect((await stream(await modelOf([silent]))).status).toBe(502);
    },
  );

  it(
    verifies(
      'routing.no-switch-after-content',
      'but not after it: the stream ends in an error and nobody else is asked',
    ),
    async () => {
      for (const reply of [
        { text: 'one two three', cut_after: 2 },
        { text: 'one two three', error_after: 2 },
      ]) {
        const { model, b } = await pair(reply);
        const answer = await stream(model);
        expect(answer.status).toBe(200);
        expect(payloads(answer.body.toString()).at(-1)).toMatch(/^\{"error":/);
        expect(answer.body.toString()).toContain('two');
        expect(b.engine.calls()).toHaveLength(0);
      }
    },
  );
});

// They wait for deadlines more than they work.
describe.concurrent('a candidate that is too slow', () => {
  const fast = { first_content: '300ms', idle: '300ms' };

  it(
    verifies(
      'routing.timeouts',
      'is left although it sends headers, comments and its role, and its socket is closed',
    ),
    async () => {
      const a = await startUpstream(async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(
          'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n\n',
        );
        const timer = setInterval(() => response.write(': ping\n\n'), 50);
        response.on('close', () => clearInterval(timer));
      });
      cleanups.push(() => a.close());
      const b = await mockOf();
      const model = await modelOf(await providersAt([a.url, { timeouts: fast }], b.url));
      const started = performance.now();
      const answer = await stream(model);
      expect(streamedText(answer.body.toString())).toBe('You said: hello');
      expect(performance.now() - started).toBeGreaterThan(290);
      expect(a.seen).toHaveLength(1);
      await eventually(() => a.seen[0]?.aborted);
    },
  );

  it(verifies('routing.timeouts', 'stays when it reasons in time'), async () => {
    const { model, b } = await pair(
      { reasoning: 'let me think about it', text: 'done', chunk_delay_ms: 100 },
      { timeouts: fast },
    );
    expect(streamedText((await stream(model)).body.toString())).toBe('done');
    expect(b.engine.calls()).toHaveLength(0);
  });

  it(
    verifies('routing.timeouts', 'and falls silent after its content is ended in the stream'),
    async () => {
      const a = await startUpstream((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(
          'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}\n\n',
        );
      });
      cleanups.push(() => a.close());
      const answer = await stream(
        await modelOf(await providersAt([a.url, { timeouts: { idle: '200ms' } }])),
      );
      expect(answer.status).toBe(200);
      const last = JSON.parse(payloads(answer.body.toString()).at(-1) ?? '');
      expect(last.error).toEqual({
        message: 'the provider stopped sending',
        param: null,
        type: 'timeout_error',
        code: 'upstream_timeout',
      });
      await eventually(() => a.seen[0]?.aborted);
    },
  );

  it(verifies('errors.status.504-timeout', 'gives 504 when the total time is over'), async () => {
    const a = await mockOf({ delay_ms: 60_000 });
    const limit = { timeouts: { total: '150ms' } };
    const model = await modelOf(await providersAt([a.url, limit], a.url), limit);
    for (const answer of [
      await gateway.chat(model),
      await gateway.chat(model, { body: { stream: true } }),
    ]) {
      expect(answer.status).toBe(504);
      expect(answer.body.error).toMatchObject({ type: 'timeout_error', code: 'upstream_timeout' });
      expect(answer.headers.get('x-should-retry')).toBe('false');
    }
  });

  it(
    verifies('routing.min-throughput', 'is left when it trickles below the least throughput'),
    async () => {
      const a = await startUpstream((response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const timer = setInterval(() => response.write(':\n'), 20);
        response.on('close', () => clearInterval(timer));
      });
      cleanups.push(() => a.close());
      const b = await mockOf();
      const rule = { bytes_per_second: 10_000, over: '200ms' };
      const [slow = '', quick = ''] = await providersAt(a.url, b.url);
      const model = await modelOf([slow, quick], {
        routes: [
          {
            provider: slow,
            upstream_model: 'up',
            min_throughput: rule,
            timeouts: { idle: '5s' },
          },
          { provider: quick, upstream_model: 'up', priority: 1 },
        ],
      });
      expect(streamedText((await stream(model)).body.toString())).toBe('You said: hello');
      await eventually(() => a.seen[0]?.aborted);
    },
  );
});

describe('a candidate that fails again and again', () => {
  let answers: number[];
  let healthy: MockServer;
  let failingName: string;
  let both: string;
  let alone: string;
  let asked: () => number;

  beforeEach(async () => {
    answers = [];
    const a = await startUpstream((response) => {
      const status = answers.shift() ?? 503;
      const headers = { 'content-type': 'application/json', 'retry-after': '1' };
      if (status === 429) response.writeHead(status, headers).end('{}');
      else if (status === 200) {
        const choices = [{ index: 0, message: { role: 'assistant', content: 'from a' } }];
        sendJson(response, 200, { choices, object: 'chat.completion' });
      } else sendJson(response, status, { error: { message: 'no' } });
    });
    cleanups.push(() => a.close());
    asked = () => a.seen.length;
    healthy = await mockOf();
    const [failing = '', spare = ''] = await providersAt(a.url, healthy.url);
    failingName = failing;
    both = await modelOf([failing, spare]);
    alone = await modelOf([failing]);
  });

  const said = async (): Promise<string | null | undefined> =>
    (await gateway.chat(both)).body.choices[0]?.message.content;

  it(
    verifies(
      'routing.cooldown',
      'gets no traffic after five faults in a row while another is available',
    ),
    async () => {
      for (let i = 0; i < 20; i++) expect((await gateway.chat(both)).status).toBe(200);
      expect(asked()).toBe(5);
      expect(healthy.engine.calls()).toHaveLength(20);
      expect((await gateway.chat(alone)).status).toBe(503);
      expect(asked()).toBe(6);
    },
  );

  it(verifies('requests.record', 'is in the record of a call that spared it'), async () => {
    for (let i = 0; i < 5; i++) await gateway.chat(both);
    const answer = await gateway.chat(both);
    const id = answer.headers.get('x-request-id');
    const record = await eventually(async () => {
      const { body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
      return body.result === 'ok' && body;
    });
    expect(record).toMatchObject({
      attempts: [
        { provider: expect.stringMatching(/^a/), status: null, outcome: 'cooldown', ms: 0 },
        { provider: expect.stringMatching(/^b/), status: 200, outcome: 'ok' },
      ],
    });
  });

  it(verifies('routing.cooldown', "is never taken out for the client's own faults"), async () => {
    answers = Array.from({ length: 12 }, () => 400);
    for (let i = 0; i < 12; i++) expect((await gateway.chat(both)).status).toBe(400);
    expect(asked()).toBe(12);
  });

  it(
    verifies(
      'routing.cooldown',
      'provider.health-shown',
      'returns after its own deadline with one successful probe, and one line of the log each way',
    ),
    async () => {
      answers = [429, 200, 200];
      for (let i = 0; i < 5; i++) expect((await gateway.chat(both)).status).toBe(200);
      expect(asked()).toBe(1);
      await expect
        .poll(async () => ((await said()) === 'from a' ? asked() : 0), {
          timeout: 3_000,
          interval: 100,
        })
        .toBe(2);
      expect(await said()).toBe('from a');
      expect(asked()).toBe(3);
      const own = gateway.log().match(new RegExp(`provider .* provider=${failingName} .*`, 'g'));
      expect(own).toEqual([
        expect.stringMatching(/^provider left out .*reason="it asked to wait" until=/),
        expect.stringMatching(/^provider serves again .* left_out_ms=\d+$/),
      ]);
    },
  );
});

describe('traffic', () => {
  it(
    verifies('routing.weights', 'is shared among equals, and lower priorities are spared'),
    async () => {
      const mocks = [await mockOf(), await mockOf(), await mockOf()];
      const [a = '', b = '', spare = ''] = await providersAt(...mocks.map(({ url }) => url));
      const model = await modelOf([a, b, spare], {
        routes: [{ provider: a }, { provider: b }, { provider: spare, priority: 1 }],
      });
      for (let i = 0; i < 40; i++) await gateway.chat(model);
      const counts = mocks.map(({ engine }) => engine.calls().length);
      expect(counts).toEqual([expect.any(Number), 40 - (counts[0] ?? 0), 0]);
      // Of 40 fair draws, all fall on one side once in 5e11 runs.
      expect(counts.slice(0, 2)).not.toContain(0);
    },
  );

  it(
    verifies(
      'routing.model-fallback',
      'goes to the fallback models when every route failed, and the record says so',
    ),
    async () => {
      const down = await mockOf({ status: 503 });
      const cut = await mockOf({ cut_before: 'first_content' });
      const up = await mockOf();
      const [a = '', b = '', c = ''] = await providersAt(down.url, cut.url, up.url);
      const second = await modelOf([c]);
      const first = await modelOf([a, b], { fallbacks: [second] });
      const answer = await stream(first);
      expect(streamedText(answer.body.toString())).toBe('You said: hello');
      const id = String(answer.headers['x-request-id']);
      await expect
        .poll(async () => (await gateway.admin('GET', `/admin/v1/requests/${id}`)).body)
        .toMatchObject({
          model: first,
          answered_by: { model: second, provider: c, upstream_model: 'up' },
          attempts: [
            { provider: a, status: 503, outcome: 'status_503' },
            { provider: b, status: 200, outcome: 'reset' },
            { provider: c, status: 200, outcome: 'ok' },
          ],
        });
    },
  );
});
