import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { listAudit } from '../../../../src/audit/read-audit.ts';
import { priceHandlers } from '../../../../src/server/routes/money/price-handlers.ts';
import type { PriceListView } from '../../../../src/server/routes/money/price-handlers.ts';
import type { Principal } from '../../../../src/usage/principal.ts';
import { makeResources } from '../../../resources/make-resources.ts';
import { turns } from '../../../usage/usage-fixtures.ts';
import { answerOf, keyring } from '../handler-calls.ts';

const model = (id: string) => ({ id, match: { equals: id }, prices: { input_mtok: 1 } });
const LIST = JSON.stringify([
  { id: 'openai', models: [model('a'), model('b')] },
  { id: 'other', models: [model('c')] },
]);
const SUM = createHash('sha256').update(LIST).digest('hex');
const GIVEN = { text: LIST, sha256: SUM, from: 'prices.json' };

function setUp(of: Partial<Principal> = {}, catchUp = async (): Promise<void> => undefined) {
  const { repository, store, clock } = makeResources();
  let caughtUp = 0;
  const keys = keyring({ scopes: new Set(['admin']), ...of });
  const handlers = priceHandlers({
    ...keys,
    repository,
    clock,
    catchUp: () => ((caughtUp += 1), catchUp()),
  });
  const ask = async (name: keyof typeof handlers, body?: object) => {
    const method = { prices: 'GET', keepPrices: 'PUT', dropPrices: 'DELETE' }[name];
    const answer = await answerOf(handlers[name], { method, body });
    expect(answer.status).toBe(200);
    return answer.body as PriceListView;
  };
  return { ask, store, inside: keys.inside, caughtUp: () => caughtUp };
}

const SHIPPED = {
  type: 'price_list',
  in_use: 'shipped',
  shipped_version: expect.stringMatching(/^\d+\.\d+/),
  sha256: null,
  from: null,
  kept_at: null,
  vendors: null,
  models: null,
};
const KEPT = {
  ...SHIPPED,
  in_use: 'kept',
  sha256: SUM,
  from: 'prices.json',
  kept_at: '2026-11-21T00:00:00.000Z',
  vendors: 2,
  models: 3,
};

describe('the list of prices', () => {
  it('is the shipped one until another one is kept, and again behind it', async () => {
    const { ask, caughtUp } = setUp();
    expect(await ask('prices')).toEqual(SHIPPED);
    expect(await ask('keepPrices', GIVEN)).toEqual(KEPT);
    expect(await ask('prices')).toEqual(KEPT);
    expect(await ask('dropPrices')).toEqual(SHIPPED);
    expect(caughtUp()).toBe(2);
  });

  it('is changed in the name of the key', async () => {
    const { ask, store, inside } = setUp();
    await ask('keepPrices', GIVEN);
    await ask('dropPrices');
    const { data } = await listAudit(store, {});
    expect(data.map(({ action, actor }) => [action, actor.id])).toEqual([
      ['delete', 'key_1'],
      ['update', 'key_1'],
    ]);
    expect(inside).toEqual({ now: 0, ever: 2 });
  });

  it('is answered once it is served', async () => {
    let serve = (): void => undefined;
    const { ask } = setUp({}, () => new Promise((resolve) => (serve = resolve)));
    let answer: PriceListView | undefined;
    const asked = ask('keepPrices', GIVEN).then((view) => (answer = view));
    await turns(20);
    expect(answer).toBeUndefined();
    serve();
    expect(await asked).toEqual(KEPT);
  });

  it('is kept although it cannot be served yet', async () => {
    const { ask } = setUp({}, () => Promise.reject(new Error('the store is away')));
    expect(await ask('keepPrices', GIVEN)).toEqual(KEPT);
    expect(await ask('dropPrices')).toEqual(SHIPPED);
  });

  it.each([
    ['text', { ...GIVEN, text: '' }, 'invalid_request'],
    ['text', { ...GIVEN, text: undefined }, 'invalid_request'],
    ['sha256', { ...GIVEN, sha256: SUM.slice(1) }, 'unprocessable'],
    ['sha256', { ...GIVEN, sha256: `${SUM}0` }, 'unprocessable'],
    ['sha256', { ...GIVEN, sha256: SUM.replace(/./, 'g') }, 'unprocessable'],
    ['sha256', { ...GIVEN, sha256: '0'.repeat(64) }, 'invalid_request'],
    ['from', { ...GIVEN, from: '' }, 'invalid_request'],
    ['from', { ...GIVEN, from: 'x'.repeat(2_049) }, 'invalid_request'],
    ['also', { ...GIVEN, also: 1 }, 'invalid_request'],
  ])('is refused at the member %s: %#', async (param, body, code) => {
    const { ask, caughtUp, inside } = setUp();
    await expect(ask('keepPrices', body)).rejects.toMatchObject({ code, param });
    expect(caughtUp()).toBe(0);
    expect(inside.now).toBe(0);
    expect(await ask('prices')).toEqual(SHIPPED);
  });

  it('takes a sum in capitals, and a long name of where it is from', async () => {
    const { ask } = setUp();
    const from = 'x'.repeat(2_048);
    const body = { ...GIVEN, sha256: SUM.toUpperCase(), from };
    expect(await ask('keepPrices', body)).toEqual({ ...KEPT, from });
  });

  it('may be no longer than other bodies', async () => {
    const { ask } = setUp();
    const body = { ...GIVEN, text: LIST.padEnd(10_000) };
    await expect(ask('keepPrices', body)).rejects.toMatchObject({ code: 'body_too_large' });
  });

  it('is read by those who see costs, and changed by those who govern', async () => {
    const no = { code: 'insufficient_scope' };
    for (const role of ['billing', 'viewer', 'operator'] as const) {
      const { ask } = setUp({ role });
      expect(await ask('prices')).toEqual(SHIPPED);
      await expect(ask('keepPrices', GIVEN)).rejects.toMatchObject(no);
      await expect(ask('dropPrices')).rejects.toMatchObject(no);
    }
    const { ask } = setUp({ scopes: null });
    await expect(ask('prices')).rejects.toMatchObject(no);
  });
});
