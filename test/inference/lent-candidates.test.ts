import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/core/errors.ts';
import { runInference } from '../../src/inference/run-inference.ts';
import type { InferenceRequest } from '../../src/inference/types.ts';
import type { ClientCredential } from '../../src/providers/lend-credential.ts';
import { resolveAccount } from '../../src/providers/resolve-account.ts';
import type { Route } from '../../src/routing/catalog.ts';
import { fakeCatalog, fakeModel, fakeRoute } from '../support/catalog.ts';
import { chatBody } from '../support/chat.ts';
import { inferenceBench } from '../support/inference.ts';
import { CLIENT_PROTOCOLS } from '../protocols/spoken.ts';
import { verifies } from '../requirements.ts';
import { principal } from '../usage/usage-fixtures.ts';

const SECRET = 'canary-of-a-client-5d1c77';
const CHAT = CLIENT_PROTOCOLS.find(({ id }) => id === 'chat')!;
const turn = () => new Promise((resolve) => setImmediate(resolve));

function lent(name: string, priority = 0): Route {
  const settings = { id: `prov_${name}`, name, provider_type: 'openai' };
  const provider = resolveAccount({ ...settings, auth: { type: 'client' } }, undefined);
  return fakeRoute(name, { id: name, priority, provider });
}

const own = (name: string, priority = 0): Route =>
  fakeRoute(name, { id: name, priority, pricing: { input: 1, output: 1 } });

interface Asked {
  routes: Route[];
  /** Absent: a call that no client makes. */
  read?: () => Promise<ClientCredential>;
  others?: ReturnType<typeof fakeModel>[];
  fallbacks?: string[];
  answers?: [status: number, body: unknown][];
}

const bring = async (): Promise<ClientCredential> => ({ form: 'token', value: SECRET });

async function ask({ routes, read, others = [], fallbacks = [], answers = [] }: Asked) {
  const bench = inferenceBench();
  const model = fakeModel('acme/one', routes, { fallbacks });
  const request: InferenceRequest = {
    id: 'req_1',
    at: bench.clock.now(),
    startedAt: bench.clock.monotonic(),
    surface: 'chat',
    protocol: CHAT,
    headers: {},
    address: {},
    principal: principal(),
    catalog: fakeCatalog(model, ...others),
    body: Buffer.from(chatBody('acme/one')),
    client: { gone: false, onGone: () => () => undefined },
    repeatable: true,
    ...(read && { clientCredential: read }),
  };
  const result = runInference(request, bench.deps).catch((error: unknown) => error);
  for (const [index, [status, body]] of answers.entries()) {
    for (let round = 0; round < 20 && bench.sent.length <= index; round++) await turn();
    bench.sent[index]?.sink.onHead(status, { 'content-type': 'application/json' });
    bench.sent[index]?.sink.onData(Buffer.from(JSON.stringify(body)));
    bench.sent[index]?.sink.onEnd();
  }
  const answer: any = await result;
  const sent = bench.sent.map(({ request: { url, headers } }) => [
    url.host,
    headers[headers.indexOf('authorization') + 1],
  ]);
  const healthOf = (route: Route) => bench.deps.health.look(route);
  return { ...bench, answer, sent, healthOf };
}

const FINE = { id: 'c', choices: [{ index: 0, message: { role: 'assistant', content: 'fine' } }] };
const refusal = (message: string, code?: string) => ({ error: { message, type: 'error', code } });
const VENDOR = 'api.openai.com';
const OURS = ['127.0.0.1:9', 'Bearer upstream-secret-value'];

describe("a candidate with the client's own credential", () => {
  it(
    verifies('providers.client-auth', 'gets it, and the record says no more than whose it was'),
    async () => {
      const { answer, sent, outcomes } = await ask({
        routes: [lent('own')],
        read: bring,
        answers: [[200, FINE]],
      });
      expect(answer).toMatchObject({ type: 'body', status: 200 });
      expect(sent).toEqual([[VENDOR, `Bearer ${SECRET}`]]);
      expect(outcomes[0]?.attempts).toMatchObject([{ provider: 'own', credential: 'client' }]);
      expect(JSON.stringify([answer, outcomes])).not.toContain(SECRET);
    },
  );

  it('ends the call at once where the client gives none, also before another candidate', async () => {
    const missing = new GatewayError('missing_client_credential', { message: 'send it' });
    const { answer, sent, healthOf } = await ask({
      routes: [lent('own'), own('ours', 1)],
      read: () => Promise.reject(missing),
    });
    expect(answer).toMatchObject({ code: 'missing_client_credential', status: 401 });
    expect(sent).toEqual([]);
    expect(healthOf(lent('own')).state).toBe('available');
  });

  it('is passed over for calls that no client makes', async () => {
    const both = await ask({ routes: [lent('own'), own('ours', 1)], answers: [[200, FINE]] });
    expect(both.answer).toMatchObject({ status: 200 });
    expect(both.sent).toEqual([OURS]);
    const { answer, sent, outcomes } = await ask({ routes: [lent('own')] });
    expect(sent).toEqual([]);
    expect(outcomes[0]?.attempts).toMatchObject([{ outcome: 'unsupported', status: null }]);
    expect(outcomes[0]?.attempts[0]?.credential).toBeUndefined();
    expect(answer).toMatchObject({
      code: 'unsupported_feature',
      message: 'provider own takes the credential of a client, and this call has none for it',
    });
  });

  it.each([
    ['another route', { routes: [lent('one'), lent('two', 1), own('ours', 2)] }],
    [
      'a fallback model',
      {
        routes: [lent('one')],
        fallbacks: ['acme/two', 'acme/three'],
        others: [fakeModel('acme/two', [lent('two')]), fakeModel('acme/three', [own('ours')])],
      },
    ],
    [
      'a fallback of a model of the operator',
      {
        routes: [{ ...own('first'), provider: { ...own('first').provider, id: 'prov_first' } }],
        fallbacks: ['acme/two', 'acme/three'],
        others: [fakeModel('acme/two', [lent('two')]), fakeModel('acme/three', [own('ours')])],
      },
    ],
  ])('never gets what was meant for %s', async (_name, asked) => {
    const { answer, sent } = await ask({
      ...asked,
      read: bring,
      answers: [
        [503, {}],
        [200, FINE],
      ],
    });
    expect(answer).toMatchObject({ status: 200 });
    expect(sent).toHaveLength(2);
    expect(sent[1]).toEqual(OURS);
    const lentTo = sent.filter(([, value]) => value?.includes(SECRET));
    expect(lentTo.length).toBeLessThanOrEqual(1);
    expect(JSON.stringify(sent)).not.toContain('two');
  });

  it.each([
    { from: 401, status: 401, body: refusal(`no such token ${SECRET}`, SECRET) },
    { from: 403, status: 403, body: refusal('your plan has no such model') },
    { from: 402, status: 402, body: refusal('pay first') },
    { from: 429, status: 429, body: refusal('insufficient_quota', 'insufficient_quota') },
    { from: 400, status: 401, body: refusal('API key not valid') },
  ])(
    'tells its owner $from as $status, and cools the route for no one else',
    async ({ from, status, body }) => {
      const { answer, sent, outcomes, healthOf } = await ask({
        routes: [lent('own'), own('ours', 1)],
        read: bring,
        answers: [[from, body]],
      });
      expect(answer).toMatchObject({ code: 'client_credential_refused', status, retry: false });
      expect(answer.message).toBe(body.error.message.replace(SECRET, '[redacted]'));
      expect(sent).toHaveLength(1);
      expect(healthOf(lent('own')).state).toBe('available');
      expect(JSON.stringify([answer, answer.message, outcomes])).not.toContain(SECRET);
    },
  );

  it('leaves a rate that is full to the next candidate, and tells it where there is none', async () => {
    const full = [429, refusal('slow down')] as [number, unknown];
    const next = await ask({
      routes: [lent('own'), own('ours', 1)],
      read: bring,
      answers: [full, [200, FINE]],
    });
    expect(next.answer).toMatchObject({ status: 200 });
    expect(next.sent[1]).toEqual(OURS);
    expect(next.healthOf(lent('own')).state).toBe('available');
    const last = await ask({ routes: [lent('own')], read: bring, answers: [full] });
    expect(last.answer).toMatchObject({ code: 'provider_rate_limited', message: 'slow down' });
  });
});
