import { describe, expect, it } from 'vitest';
import { runInference } from '../../src/inference/run-inference.ts';
import { addressOfStored, storedResponse } from '../../src/protocols/responses/stored-responses.ts';
import type { Owner } from '../../src/routing/affinity.ts';
import type { Model, Route } from '../../src/routing/catalog.ts';
import { fakeAccount, fakeCatalog, fakeModel, fakeRoute } from '../support/catalog.ts';
import { inferenceBench } from '../support/inference.ts';
import { verifies } from '../requirements.ts';
import { principal } from '../usage/usage-fixtures.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const ID = 'resp_1';
const KEPT = { id: ID, object: 'response', status: 'completed', output: [], model: 'up' };

const route = (name: string): Route =>
  fakeRoute(name, {
    protocols: new Set(['responses'] as const),
    provider: fakeAccount(name, { protocols: { responses: { path: '/responses' } } }),
  });

type Answer = readonly [status: number, body: object];

/** A look at a Response that account `b` keeps, which answers so. */
async function look(models: Model[], [status, body]: Answer, allowed?: string[]) {
  const bench = inferenceBench();
  const kept: (string | Owner)[] = [];
  bench.deps.affinity = {
    find: async () => 'prov_b',
    modelOf: async () => 'acme/one',
    keep: async (_organization, _names, owner) => void kept.push(owner),
  };
  const address = addressOfStored('GET', `/v1/responses/${ID}`, '');
  const answer = runInference(
    {
      id: 'req_1',
      at: bench.clock.now(),
      startedAt: bench.clock.monotonic(),
      surface: 'responses.get',
      protocol: storedResponse,
      headers: {},
      address: { ...address, model: 'acme/one' },
      principal: principal(allowed && { allowedModels: allowed }),
      catalog: fakeCatalog(...models),
      body: Buffer.from('{}'),
      client: { gone: false, onGone: () => () => undefined },
      repeatable: true,
      free: true,
    },
    bench.deps,
  ).catch((error: unknown) => error);
  for (let round = 0; round < 20 && bench.sent.length === 0; round++) await turn();
  const [sent] = bench.sent;
  bench.clock.advance(40);
  sent?.sink.onHead(status, { 'content-type': 'application/json' });
  sent?.sink.onData(Buffer.from(JSON.stringify(body)));
  sent?.sink.onEnd();
  return { ...bench, kept, answer: await answer };
}

describe('a look at a Response that its provider keeps', () => {
  it.each([
    ['without a fallback', []],
    ['with a fallback that the key may not call', ['acme/two']],
  ])(
    verifies('responses.lookup', 'finds what another model answered in place of its own, %s'),
    async (_what, fallbacks) => {
      const one = fakeModel('acme/one', [route('a')], { fallbacks });
      const two = fakeModel('acme/two', [route('b')]);
      const { answer, sent } = await look([one, two], [200, KEPT], ['acme/one']);
      expect(answer).toMatchObject({ type: 'body', status: 200 });
      expect(String(sent[0]?.request.url)).toContain(`/responses/${ID}`);
    },
  );

  it('names its model for the next one, though the provider does not store it', async () => {
    const { kept } = await look(
      [fakeModel('acme/one', [route('b')])],
      [200, { ...KEPT, store: false }],
    );
    expect(kept).toEqual([{ account: 'prov_b', model: 'acme/one' }]);
  });

  it.each([
    [200, KEPT],
    [429, { error: { message: 'slow down' } }],
    [500, { error: { message: 'broken' } }],
  ])('says nothing about how the model answers: %i', async (status, body) => {
    const only = route('b');
    const { deps } = await look([fakeModel('acme/one', [only])], [status, body]);
    expect(deps.health.look(only, 'whole')).toMatchObject({
      state: 'available',
      latencyMs: undefined,
      consecutiveFaults: 0,
    });
  });
});
