import { describe, expect, it } from 'vitest';
import {
  createLimitWarnings,
  findSmallLimit,
  reservationsOf,
} from '../../src/routing/small-limits.ts';
import type { ReservingModel } from '../../src/routing/small-limits.ts';
import { fakeCatalog, fakeModel, fakeRoute } from '../support/catalog.ts';
import { verifies } from '../requirements.ts';

/** Nano-dollars per token at 15 USD per million. */
const DEAR = 15_000;
const model = (id: string, output: number, more: Partial<ReservingModel> = {}) => ({
  id,
  type: 'llm' as const,
  routes: [{ pricing: { input: 0, output } }],
  ...more,
});
const MODELS = [
  model('acme/ha', DEAR),
  model('acme/cheap', 1_000),
  model('acme/short', DEAR, { maxOutputTokens: 100 }),
  model('acme/free', 0),
  model('acme/unpriced', 0, { routes: [{ pricing: {} }] }),
];
const found = (collection: string, object: object) =>
  findSmallLimit(collection, { ...object }, () => reservationsOf(MODELS, 16_384));

describe('a limit that cannot pay for one call', () => {
  const text =
    '0.20 USD cannot pay for one call of acme/ha; without max_tokens it reserves 16384 output tokens, 0.24576 USD, and is refused with nothing spent';
  it.each<[string, string, object, object | undefined]>([
    ['a day of a key', 'keys', { spending_limit: { day: '0.20' } }, { path: 'spending_limit.day' }],
    ['a key in all', 'keys', { spending_limit: '0.20' }, { path: 'spending_limit' }],
    [
      'the least of several',
      'keys',
      { spending_limit: { lifetime: '9', day: 0.2, month: null } },
      { path: 'spending_limit.day' },
    ],
    [
      'a conversation',
      'keys',
      { spending_limit: null, limits: { conversation_spending: '0.20' } },
      { path: 'limits.conversation_spending' },
    ],
    [
      'an organization',
      'organizations',
      { spending_limit: { month: '0.20' } },
      { path: 'spending_limit.month' },
    ],
    ['a budget', 'budgets', { amount: '0.20', match: {} }, { path: 'amount' }],
    ['a budget of the model', 'budgets', { amount: '0.20', match: { models: ['acme/*'] } }, {}],
    ['a budget of another', 'budgets', { amount: '0.20', match: { models: ['b/*'] } }, undefined],
    ['a budget that warns', 'budgets', { amount: '0.20', on_exceed: 'warn' }, undefined],
    ['a budget that is off', 'budgets', { amount: '0.20', enabled: false }, undefined],
    ['enough', 'keys', { spending_limit: '0.24576' }, undefined],
    ['nothing, on purpose', 'keys', { spending_limit: '0' }, undefined],
    ['no limit', 'keys', { spending_limit: null }, undefined],
    [
      'models that it can pay',
      'keys',
      { spending_limit: '0.20', allowed_models: ['acme/cheap', 'acme/short', 'acme/free'] },
      undefined,
    ],
    ['another kind', 'models', { amount: '0.20' }, undefined],
  ])(
    verifies('limits.too-small', 'is found by the default bound at the price of a model: %s'),
    (...[, collection, object, expected]) => {
      if (expected) expect(found(collection, object)).toMatchObject({ text, ...expected });
      else expect(found(collection, object)).toBeUndefined();
    },
  );

  it('counts the other models, and names the dearest', () => {
    const all = found('keys', { spending_limit: '0.001' });
    expect(all?.text).toContain('one call of acme/ha, nor of 2 other models; ');
  });

  it('goes by the dearest route, and by one picture of a model that makes them', () => {
    const routes = [{ pricing: { perCall: 5 } }, { pricing: { perImage: 50_000_000, perCall: 1 } }];
    const picture = { id: 'acme/art', type: 'image' as const, routes };
    const reservations = reservationsOf([picture], 16_384);
    expect(reservations).toEqual([{ model: 'acme/art', outputTokens: 0, cost: 50_000_001 }]);
    expect(findSmallLimit('keys', { spending_limit: '0.04' }, () => reservations)?.text).toBe(
      '0.04 USD cannot pay for one call of acme/art; it reserves 0.050000001 USD, and is refused with nothing spent',
    );
  });
});

it(
  verifies('limits.too-small', 'is a warning of the answer, by the models that are served now'),
  () => {
    const route = (output: number) => fakeRoute('a', { priority: 0, pricing: { output } });
    let catalog = fakeCatalog(fakeModel('acme/ha', [route(15_000)]));
    const warningsOf = createLimitWarnings(() => catalog, 1_000);
    const key = { spending_limit: { day: '0.01' } };
    expect(warningsOf('keys', key)).toEqual([
      'spending_limit.day: 0.01 USD cannot pay for one call of acme/ha; without max_tokens it reserves 1000 output tokens, 0.015 USD, and is refused with nothing spent; raise the limit, let clients send max_tokens, or set max_output_tokens on the model',
    ]);
    expect(warningsOf('models', key)).toEqual([]);
    expect(warningsOf('keys', undefined)).toEqual([]);
    catalog = fakeCatalog(fakeModel('acme/ha', [route(1)]));
    expect(warningsOf('keys', key)).toEqual([]);
  },
);
