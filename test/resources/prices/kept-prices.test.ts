import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { GATEWAY_ORIGIN } from '../../../src/audit/audit-entry.ts';
import { GatewayError } from '../../../src/core/errors.ts';
import {
  dropPrices,
  keepPrices,
  readKeptPrices,
} from '../../../src/resources/prices/kept-prices.ts';
import { shippedPrices } from '../../../src/usage/prices/live-prices.ts';
import { createPriceList, USED_VENDORS } from '../../../src/usage/prices/price-list.ts';
import { MAX_PRICE_LIST_BYTES } from '../../../src/usage/prices/vendor-prices.ts';
import { makeResources } from '../make-resources.ts';

const MODEL = { id: 'gpt', match: { equals: 'gpt' }, prices: { input_mtok: 1 } };
const listOf = (...models: unknown[]): unknown => [{ id: 'openai', models }];
const sumOf = (text: string): string => createHash('sha256').update(text).digest('hex');

function open() {
  const { repository, store } = makeResources();
  const scope = { repository, by: GATEWAY_ORIGIN, now: 1_700_000_000_000 };
  const keep = async (list: unknown, from = 'prices.json') => {
    const text = typeof list === 'string' ? list : JSON.stringify(list);
    return keepPrices({ text, sha256: sumOf(text), from }, scope);
  };
  return { repository, store, scope, keep };
}

async function faultOf(work: Promise<unknown>): Promise<[string, unknown]> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof GatewayError)) throw new Error(`not refused: ${String(thrown)}`);
  return [thrown.message, thrown.param];
}

describe('kept prices', () => {
  it('are vendors alone, whatever else a list says of them', async () => {
    const { keep, store } = open();
    const more = { id: 'other', pricing_urls: ['x'], models: [{ ...MODEL, price_comments: 'x' }] };
    const kept = await keep({ providers: [...(listOf(MODEL) as unknown[]), more], made: 'today' });
    expect(kept).toEqual({
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      from: 'prices.json',
      kept_at: '2023-11-14T22:13:20.000Z',
      vendors: [
        { id: 'openai', models: [MODEL] },
        { id: 'other', models: [MODEL] },
      ],
    });
    expect(await readKeptPrices(store)).toEqual(kept);
  });

  it('may be the whole list that is shipped, and then say the same', async () => {
    const { findProvider } = await import('@pydantic/genai-prices');
    const { keep } = open();
    const { vendors } = await keep(USED_VENDORS.map((id) => findProvider({ providerId: id })));
    expect(vendors.map(({ id }) => id)).toEqual(USED_VENDORS);
    const shipped = await shippedPrices();
    const kept = createPriceList((id) => vendors.find((one) => one.id === id));
    for (const [type, name] of [
      ['anthropic', 'claude-opus-4-8'],
      ['google', 'gemini-2.5-pro'],
      ['mistral', 'mistral-large-latest'],
    ] as const)
      expect(kept.find(type, name, Date.now())).toEqual(shipped.find(type, name, Date.now()));
  });

  it('stay as they are when the same list comes again', async () => {
    const { keep, scope } = open();
    const first = await keep(listOf(MODEL), 'first.json');
    scope.now += 60_000;
    expect(await keep(listOf(MODEL), 'second.json')).toEqual(first);
    expect(await keep(listOf(MODEL, { ...MODEL, id: 'b' }))).toMatchObject({ from: 'prices.json' });
  });

  it('are gone when they are dropped, also twice', async () => {
    const { keep, scope, store } = open();
    await keep(listOf(MODEL));
    await dropPrices(scope);
    await dropPrices(scope);
    expect(await readKeptPrices(store)).toBeUndefined();
  });

  it('never hold what a URL may let somebody in with', async () => {
    const { keep } = open();
    const from = 'https://user:pass@prices.example/list.json?token=t0ken#x';
    expect(await keep(listOf(MODEL), from)).toMatchObject({
      from: 'https://prices.example/list.json',
    });
  });

  const FAULTS: readonly [string, unknown, string, string][] = [
    ['no JSON', '[', 'text', 'not valid JSON'],
    ['a number', 7, 'text', 'array of vendors'],
    ['no vendors', [], 'text.providers', 'Too small'],
    ['no vendor that is used', [{ id: 'nobody', models: [] }], 'text.providers', 'openai'],
    [
      'a vendor twice',
      [...Array(2)].map(() => ({ id: 'openai', models: [] })),
      'text.providers[1].id',
      'twice',
    ],
    [
      'a price below zero',
      listOf({ ...MODEL, prices: { input_mtok: -1 } }),
      'text.providers[0].models[0].prices.input_mtok',
      '>=0',
    ],
    [
      'a price as text',
      listOf({ ...MODEL, prices: { input_mtok: '1' } }),
      'text.providers[0].models[0].prices.input_mtok',
      'number of dollars',
    ],
    [
      'a rule that is unknown',
      listOf({ ...MODEL, match: { like: 'x' } }),
      'text.providers[0].models[0].match',
      '',
    ],
    [
      'a wrong expression',
      listOf({ ...MODEL, match: { regex: '(' } }),
      'text.providers[0].models[0].match.regex',
      'no regular expression',
    ],
    [
      'an expression without an end',
      listOf({ ...MODEL, match: { regex: '^(a+)+$' } }),
      'text.providers[0].models[0].match.regex',
      'repeats',
    ],
    [
      'many open ends',
      listOf({ ...MODEL, match: { regex: '.*a.*b.*c.*d' } }),
      'text.providers[0].models[0].match.regex',
      'repeats',
    ],
    [
      'a date that is none',
      listOf({ ...MODEL, prices: [{ prices: {}, constraint: { start_date: 'May' } }] }),
      'text.providers[0].models[0].prices[0].constraint',
      '',
    ],
    [
      'rules without a floor',
      listOf({ ...MODEL, match: nested(20) }),
      'text.providers[0].models[0].match',
      '',
    ],
  ];
  it.each(FAULTS)('refuse %s', async (...[, list, param, message]) => {
    const { keep, store } = open();
    const [said, at] = await faultOf(keep(list));
    expect(at, said).toContain(param);
    expect(said).toContain(message);
    expect(await readKeptPrices(store)).toBeUndefined();
  });

  it('refuse a text that is too long, or has another sum', async () => {
    const { keep, scope } = open();
    expect(await faultOf(keep(' '.repeat(MAX_PRICE_LIST_BYTES + 1)))).toEqual([
      'text: a list of prices may have at most 4194304 bytes',
      'text',
    ]);
    const text = JSON.stringify(listOf(MODEL));
    const given = { text, sha256: sumOf('another'), from: 'x' };
    const [said] = await faultOf(keepPrices(given, scope));
    expect(said).toContain(`has the sum ${sumOf(text)}`);
  });
});

function nested(depth: number): unknown {
  return depth === 0 ? { equals: 'x' } : { or: [nested(depth - 1)] };
}
