import { describe, expect, it, vi } from 'vitest';
import type { JsonDocument } from '../../src/core/json/json-document.ts';
import { runInference } from '../../src/inference/run-inference.ts';
import type { Route } from '../../src/routing/catalog.ts';
import { StoreError } from '../../src/store/store.ts';
import type { CallResult, InferenceRequest } from '../../src/inference/types.ts';
import type { WireProtocol } from '../../src/protocols/protocol.ts';
import { UpstreamError } from '../../src/upstream/transport.ts';
import { verifies } from '../requirements.ts';
import { fakeAccount, fakeCatalog, fakeModel, fakeRoute } from '../support/catalog.ts';
import { chatBody, chunk, COMPLETION } from '../support/chat.ts';
import { inferenceBench } from '../support/inference.ts';
import type { SentCall } from '../support/inference.ts';
import { SPOKEN } from '../protocols/spoken.ts';

const { chat } = SPOKEN.wires;

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

function setup(
  routes: Route[],
  options: { stream?: boolean; admitted?: Promise<void>; durable?: Promise<void> } = {},
) {
  const { stream = false, ...entry } = options;
  const bench = inferenceBench(entry);
  const listeners = new Set<() => void>();
  const client = {
    gone: false,
    onGone(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const leave = (): void => {
    client.gone = true;
    for (const listener of listeners) listener();
  };
  const answer: Promise<CallResult> = runInference(
    {
      id: 'req_1',
      at: bench.clock.now(),
      startedAt: bench.clock.monotonic(),
      surface: 'chat',
      protocol: chat,
      headers: {},
      address: {},
      principal: {
        keyId: 'key_1',
        keyName: 'one',
        organizationId: 'org_1',
        organizationEnabled: true,
        scopes: null,
        keySpend: null,
        organizationSpend: null,
        rpmCap: null,
        concurrencyCap: null,
        allowedModels: null,
      },
      catalog: fakeCatalog(fakeModel('acme/fast', routes)),
      body: Buffer.from(chatBody('acme/fast', { stream })),
      client,
      repeatable: true,
    },
    bench.deps,
  );
  answer.catch(() => undefined);
  return { ...bench, answer, leave };
}

const route = (name: string, priority: number, overrides: Partial<Route> = {}): Route =>
  fakeRoute(name, { priority, ...overrides });

const succeed = (call: SentCall | undefined): void => {
  call?.sink.onHead(200, { 'content-type': 'application/json' });
  call?.sink.onData(Buffer.from(JSON.stringify(COMPLETION)));
  call?.sink.onEnd();
};

describe('runInference', () => {
  it(
    verifies('errors.status.504-timeout', 'the total time is one for all candidates'),
    async () => {
      const timeouts = { firstContent: 600, wholeAnswer: 600, idle: 600, total: 1_000 };
      const { answer, clock, sent, outcomes } = setup([
        route('a', 0, { timeouts }),
        route('b', 1, { timeouts }),
        route('c', 2, { timeouts }),
      ]);
      clock.advance(600);
      await nextTurn();
      clock.advance(400);
      await expect(answer).rejects.toMatchObject({ code: 'upstream_timeout', status: 504 });
      expect(sent).toHaveLength(2);
      expect(sent.map(({ aborted }) => aborted)).toEqual([true, true]);
      expect(outcomes).toMatchObject([{ status: 504, result: 'error', cost: 0 }]);
    },
  );

  it('asks no candidate whose time is over before its turn, and goes on to one that has some', async () => {
    const timeouts = { firstContent: 600, wholeAnswer: 600, idle: 600 };
    const { answer, clock, sent, outcomes } = setup([
      route('a', 0, { timeouts: { ...timeouts, total: 10_000 } }),
      route('b', 1, { timeouts: { ...timeouts, total: 600 } }),
      route('c', 2, { timeouts: { ...timeouts, total: 10_000 } }),
    ]);
    clock.advance(600);
    await nextTurn();
    await nextTurn();
    expect(sent).toHaveLength(2);
    succeed(sent[1]);
    expect(await answer).toMatchObject({ status: 200 });
    expect(outcomes[0]?.attempts.map(({ provider, outcome }) => [provider, outcome])).toEqual([
      ['a', 'timeout_first_content'],
      ['b', 'timeout_total'],
      ['c', 'ok'],
    ]);
  });

  it('measures the latency of whole answers as such', async () => {
    const one = route('a', 0);
    const { answer, clock, sent, deps } = setup([one]);
    clock.advance(500);
    succeed(sent[0]);
    await answer;
    expect(deps.health.look(one, 'whole').latencyMs).toBe(500);
    expect(deps.health.look(one, 'stream').latencyMs).toBeUndefined();
  });

  it('a refused connection is tried once more, and only once', async () => {
    const { answer, sent, outcomes } = setup([route('a', 0), route('b', 1)]);
    for (const _ of [1, 2]) {
      sent.at(-1)?.sink.onError(new UpstreamError('connect', 'refused'));
      await nextTurn();
    }
    succeed(sent[2]);
    expect(await answer).toMatchObject({ status: 200 });
    expect(outcomes[0]?.attempts.map(({ provider, outcome }) => [provider, outcome])).toEqual([
      ['a', 'connect'],
      ['a', 'connect'],
      ['b', 'ok'],
    ]);
  });

  it('passes on an answer under another name, however deeply it is nested', async () => {
    const { answer, sent, outcomes } = setup([route('a', 0, { responseModel: 'logical' })]);
    const nested = `${'['.repeat(600)}${']'.repeat(600)}`;
    sent[0]?.sink.onHead(200, { 'content-type': 'application/json' });
    sent[0]?.sink.onData(Buffer.from(`{"choices":[{"message":{}}],"model":"up","x":${nested}}`));
    sent[0]?.sink.onEnd();
    expect(await answer).toMatchObject({ status: 200 });
    expect(outcomes[0]?.attempts.map(({ outcome }) => outcome)).toEqual(['ok']);
  });

  it('tells the family of the candidates that were asked, not of those passed over', async () => {
    const provider = fakeAccount('b', { quirks: { chat: { refuse: ['messages'] } } });
    const bench = inferenceBench();
    const told: unknown[] = [];
    const answer = runInference(
      {
        ...plainRequest([route('a', 0), route('b', 1, { provider })]),
        toClientError(error, statuses) {
          told.push(statuses);
          return error;
        },
      },
      bench.deps,
    );
    bench.sent[0]?.sink.onHead(429, {});
    bench.sent[0]?.sink.onEnd();
    await expect(answer).rejects.toMatchObject({ code: 'no_route_succeeded' });
    expect(told).toEqual([[429]]);
    expect(bench.outcomes[0]?.attempts).toHaveLength(2);
  });

  it(
    verifies('stream.client-abort.cancels-upstream', 'asks nobody for a client that has left'),
    async () => {
      const { answer, sent, leave, outcomes, clock } = setup([route('a', 0), route('b', 1)]);
      sent[0]?.sink.onError(new UpstreamError('connect', 'refused'));
      leave();
      await expect(answer).rejects.toThrow();
      expect(sent).toHaveLength(1);
      expect(outcomes).toMatchObject([{ status: 499, result: 'aborted', cost: 0 }]);
      expect(clock.pending).toBe(0);
    },
  );

  it(
    verifies(
      'responses.status.500-lifecycle',
      'a request whose continuation cannot be looked up is answered 500, and nobody is asked',
    ),
    async () => {
      const bench = inferenceBench();
      bench.deps.affinity.find = () => Promise.reject(new StoreError('unavailable', 'gone'));
      const pinned = {
        ...chat,
        peek: (body: Buffer) => ({ ...chat.peek(body), pins: ['resp_1'] }),
      };
      const request = { ...plainRequest([route('a', 0)]), protocol: pinned };
      await expect(runInference(request, bench.deps)).rejects.toMatchObject({
        code: 'persistence_failed',
        status: 500,
      });
      expect(bench.sent).toHaveLength(0);
    },
  );

  it('a provider that cannot be reached at all leaves nothing behind', async () => {
    const bench = inferenceBench();
    bench.deps.transportFor = () => {
      throw new TypeError('a bad cassette');
    };
    const { deps, clock } = bench;
    const health = deps.health;
    const one = route('a', 0);
    const answer = runInference(plainRequest([one]), deps);
    await expect(answer).rejects.toMatchObject({ code: 'internal_error' });
    expect(clock.pending).toBe(0);
    expect(deps.active.size).toBe(0);
    expect(health.look(one).state).toBe('available');
    expect(bench.outcomes).toMatchObject([{ status: 500, result: 'error' }]);
  });

  it.each([
    ['a short one that is forwarded', 1, 'chat' as const],
    ['a short one that is translated', 1, 'responses' as const],
    ['a long one that is translated', 100_000, 'responses' as const],
  ])(
    'nothing that was parsed of a request is kept while a provider works: %s',
    async (_what, length, protocol) => {
      const bench = inferenceBench();
      let json: JsonDocument | undefined;
      const watched: WireProtocol = {
        ...chat,
        peek(source) {
          const peek = chat.peek(source);
          ({ json } = peek);
          return peek;
        },
      };
      const provider = fakeAccount('a', {
        protocols: { chat: { path: '/chat' }, responses: { path: '/responses' } },
      });
      const content = 'x'.repeat(length);
      const body = { model: 'acme/fast', messages: [{ role: 'user', content }] };
      const call = {
        ...plainRequest([route('a', 0, { provider, protocols: new Set([protocol]) })]),
        protocol: watched,
        body: Buffer.from(JSON.stringify(body)),
      };
      const parse = vi.spyOn(JSON, 'parse');
      try {
        runInference(call, bench.deps).catch(() => undefined);
        while (bench.sent.length === 0) await nextTurn();
        const whole = parse.mock.calls.filter(([text]) => text.startsWith('{"model"'));
        expect(whole).toHaveLength(protocol === 'chat' ? 0 : 1);
        expect(json?.value).toEqual(body);
        expect(parse.mock.lastCall?.[0]).toMatch(/^\{"model"/);
      } finally {
        parse.mockRestore();
      }
    },
  );

  it('reserves amounts that can be counted exactly, whatever a client multiplies', async () => {
    const bench = inferenceBench();
    const pricing = { input: 3_000, output: 15_000 };
    const call = plainRequest([route('a', 0, { pricing })]);
    const most = Number.MAX_SAFE_INTEGER;
    const tokenCaps = { day: 10_000 };
    const asking = (members: object) =>
      runInference(
        {
          ...call,
          principal: { ...call.principal, tokenCaps },
          body: Buffer.from(JSON.stringify({ ...JSON.parse(chatBody('acme/fast')), ...members })),
        },
        bench.deps,
      ).catch(() => undefined);
    for (const members of [{ n: most, max_tokens: most }, { n: most }, { n: 2, max_tokens: 50 }])
      void asking(members);
    while (bench.starts.length < 3) await nextTurn();
    const [first, second, third] = bench.starts.map(({ bound, tokens = 0 }) => ({ bound, tokens }));
    for (const { bound, tokens } of [first!, second!]) {
      // Dearer than what any key may spend that has a limit of some thousand dollars.
      expect(bound).toBeGreaterThan(10_000 * 1e9);
      expect(Number.isSafeInteger(100 * bound)).toBe(true);
      expect(tokens).toBeGreaterThan(tokenCaps.day);
      expect(Number.isSafeInteger(1_000 * tokens)).toBe(true);
    }
    expect(third!.tokens).toBeLessThan(1_000);
  });

  it(
    verifies('chat.status.500-persistence', 'a stream is given up when its record is not durable'),
    async () => {
      let refuse = (_error: Error): void => undefined;
      const durable = new Promise<void>((_resolve, reject) => {
        refuse = reject;
      });
      durable.catch(() => undefined);
      const { answer, sent, outcomes, clock, deps } = setup([route('a', 0)], {
        stream: true,
        durable,
      });
      sent[0]?.sink.onHead(200, { 'content-type': 'text/event-stream' });
      sent[0]?.sink.onData(Buffer.from(chunk({ content: 'hi' })));
      await nextTurn();
      refuse(new Error('disk full'));
      await expect(answer).rejects.toMatchObject({ status: 500 });
      expect(sent[0]?.aborted).toBe(true);
      expect(outcomes).toMatchObject([{ status: 500, result: 'error' }]);
      expect(deps.active.size).toBe(0);
      expect(clock.pending).toBe(0);
    },
  );

  it(
    verifies('store.ledger.abort', 'a client that leaves in the middle is charged what was made'),
    async () => {
      const pricing = { input: 10, output: 100 };
      const { answer, sent, leave, outcomes } = setup([route('a', 0, { pricing })], {
        stream: true,
      });
      sent[0]?.sink.onHead(200, { 'content-type': 'text/event-stream' });
      for (let i = 0; i < 5; i++) sent[0]?.sink.onData(Buffer.from(chunk({ content: 'words ' })));
      await answer;
      leave();
      await nextTurn();
      expect(sent[0]?.aborted).toBe(true);
      expect(outcomes).toHaveLength(1);
      expect(outcomes[0]).toMatchObject({ status: 499, result: 'aborted', estimated: true });
      expect(outcomes[0]?.usage.input).toBeGreaterThan(0);
      expect(outcomes[0]?.usage.output).toBeGreaterThan(0);
      expect(outcomes[0]?.cost).toBeGreaterThan(0);
    },
  );
});

function plainRequest(routes: Route[]): InferenceRequest {
  return {
    id: 'req_1',
    at: 0,
    startedAt: 0,
    surface: 'chat',
    protocol: chat,
    headers: {},
    address: {},
    principal: {
      allowedModels: null,
      keyId: 'key_1',
      keySpend: null,
      organizationId: 'org_1',
      organizationSpend: null,
    } as never,
    catalog: fakeCatalog(fakeModel('acme/fast', routes)),
    body: Buffer.from(chatBody('acme/fast')),
    client: { gone: false, onGone: () => () => undefined },
    repeatable: true,
  };
}

describe('an answer beside those to many others', () => {
  function beside() {
    const all = setup([route('a', 0)]);
    for (const _ of [1, 2, 3]) all.deps.active.add({ shutDown: () => undefined });
    return all;
  }

  it('is read at the end of the turn in which it came', async () => {
    const { answer, sent, outcomes } = beside();
    succeed(sent[0]);
    await Promise.resolve();
    expect(outcomes).toEqual([]);
    await nextTurn();
    expect(outcomes).toMatchObject([{ status: 200, result: 'ok' }]);
    expect(await answer).toMatchObject({ status: 200 });
  });

  it('is not read for a client that left in that turn', async () => {
    const { answer, sent, outcomes, leave } = beside();
    succeed(sent[0]);
    leave();
    await nextTurn();
    await expect(answer).rejects.toMatchObject({ code: 'upstream_interrupted' });
    expect(outcomes).toMatchObject([{ status: 499, result: 'aborted' }]);
  });
});
