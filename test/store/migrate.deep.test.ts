import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { migrateStore, type MigrateOptions } from '../../src/store/raw/migrate-store.ts';
import { openRaw } from '../../src/store/raw/open-raw.ts';
import { verifyStore } from '../../src/store/raw/verify-store.ts';
import type { StoreConfig } from '../../src/store/store-config.ts';
import type { Entry, Key, Op, Store } from '../../src/store/store.ts';
import { HOSTILE_KEYS } from '../conformance/store.ts';
import { verifies } from '../requirements.ts';
import { IS_ALL, inTurn, SEED } from '../runs.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { storePlaces } from './support/store-places.ts';

const places = storePlaces();
/**
 * Each driver once on each side, one of the pairs with the largest values; with `GATEWAY_TEST_ALL=1` each
 * of these has them, and the other pairs, which are their combinations, run too.
 */
const PAIRS = places.drivers.flatMap((from, index, all) =>
  all
    .map((to) => ({ from, to, isNext: to === all[(index + 1) % all.length] }))
    .filter(({ isNext }) => isNext || IS_ALL)
    .map((pair) => ({ ...pair, isLarge: pair.isNext && (IS_ALL || index === SEED % all.length) })),
);

const START = 1_800_000_000_000;
const VALUES: unknown[] = [
  null,
  false,
  0,
  -0.5,
  1e21,
  1e-7,
  '',
  '123',
  '\0',
  '\ud800',
  [],
  {},
  { b: 1, 10: 2, __proto__x: [null, { deep: ['ü'] }] },
  new Uint8Array(0),
  Uint8Array.of(0, 255, 10, 13),
];

const put = (key: Key, value: unknown, ttlMs?: number): Op => ({
  type: 'put',
  key,
  value,
  ...(ttlMs !== undefined && { ttlMs }),
});

async function fill(store: Store): Promise<void> {
  await store.commit(HOSTILE_KEYS.map((key, index) => put(key, index)));
  await store.commit(VALUES.map((value, index) => put(['value', index], value)));
  await store.commit([put(['brief'], 'gone', 1_000), put(['long'], 'stays', 5_000)]);
  await store.commit([put(['for', 'ever'], 'nearly', 1e22)]);
  for (let n = 0; n < 10; n++) await store.increment(['count', 'tenth'], 0.1, { ttlMs: 60_000 });
  await store.increment(['count', 'huge'], 1e20);
  await store.increment(['count', 'huge'], 2e20);
  await store.increment(['count', 'less'], -1.5e-9);
  await store.commit([put(['deleted'], 1)]);
  await store.commit([{ type: 'delete', key: ['deleted'] }]);
}

/** A value of the greatest size; each of them is more than one step can carry. */
const LARGE = inTurn('large values that move', [
  put(['text'], 'x'.repeat(16 * 1024 * 1024 - 3)),
  put(['bytes'], new Uint8Array(randomBytes(9 * 1024 * 1024))),
]);

/** Every entry; what is long by its digest, for comparing it item by item would take minutes. */
async function everything(store: Store): Promise<Entry[]> {
  const entries = await store.list({ prefix: [], limit: 10_000 });
  return entries.map((entry) => ({ ...entry, value: brief(entry.value) }));
}

function brief(value: unknown): unknown {
  const isLong = (typeof value === 'string' || value instanceof Uint8Array) && value.length > 1_000;
  if (!isLong) return value;
  const digest = createHash('sha256').update(value).digest('hex');
  return `${typeof value} ${value.length} ${digest}`;
}

function options(
  from: StoreConfig,
  to: StoreConfig,
  clock = createFakeClock(START),
): MigrateOptions {
  const { signal } = new AbortController();
  const onRows = (): void => undefined;
  return { from, to, clock, leases: ['worker'], signal, onRows, onCopied: onRows };
}

describe.each(PAIRS)('a store on $from that moves to $to', ({ from, to, isLarge }) => {
  it(
    verifies('store.migrate', 'keeps keys, values, versions, counters and the time that is left'),
    async () => {
      const [source, target] = [await places.fresh(from), await places.fresh(to)];
      const clock = createFakeClock(START);
      const before = await openStore(source, { clock });
      await fill(before);
      if (isLarge) for (const op of LARGE) await before.commit([op]);
      const expected = await everything(before);
      await before.close();
      const { rows, checksum } = await migrateStore(options(source, target, clock));
      expect(rows).toBe(expected.length);
      const raw = await openRaw(target, { clock, isHeld: false });
      const { signal } = new AbortController();
      const verified = await verifyStore(raw, { signal, onRows: () => undefined });
      expect(verified).toMatchObject({ rows, checksum, problems: [] });
      await raw.close();

      const after = await openStore(target, { clock });
      try {
        expect(await everything(after)).toEqual(expected);
        expect(await after.increment(['count', 'tenth'], 1)).toBeCloseTo(2, 9);
        const result = await after.commit([put(['new'], 1)]);
        const highest = Math.max(...expected.map(({ version }) => Number(version)));
        expect(Number(result.ok && result.version)).toBeGreaterThan(highest);
        clock.advance(1_000);
        expect(await after.get(['brief'])).toBeUndefined();
        expect((await after.get(['long']))?.value).toBe('stays');
        clock.advance(4_000);
        expect(await after.get(['long'])).toBeUndefined();
        expect((await after.get(['for', 'ever']))?.value).toBe('nearly');
      } finally {
        await after.close();
      }
    },
  );
});
