import { describe, expect, it, onTestFinished } from 'vitest';
import { encodeKey } from '../../../src/store/key-codec.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { openRaw, openRawTarget } from '../../../src/store/raw/open-raw.ts';
import { STEP_BYTES, STEP_ROWS } from '../../../src/store/raw/raw-store.ts';
import type { RawRow, RawStore } from '../../../src/store/raw/raw-store.ts';
import type { StoreConfig } from '../../../src/store/store-config.ts';
import type { Incoming } from '../../../src/store/store-meta.ts';
import { inTurn } from '../../runs.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { storePlaces } from '../support/store-places.ts';

const clock = createFakeClock(1_000_000);
const FROM: Incoming = { from: 'elsewhere', startedAt: 1_000 };

const rowOf = (n: number, more: Partial<RawRow> = {}): RawRow => ({
  key: encodeKey(['k', n]),
  envelope: Buffer.from(`j${n}`),
  version: n,
  expiresAt: Infinity,
  ...more,
});

/** A store that holds these rows, closed again. */
async function fill(config: StoreConfig, rows: readonly RawRow[], last = 50): Promise<void> {
  const target = await openRawTarget(config, clock);
  await target.begin(FROM);
  const half = Math.ceil(rows.length / 2);
  await target.write(rows.slice(0, half));
  await target.write(rows.slice(half));
  await target.flush(last);
  await target.complete();
  await target.close();
}

async function openHere(config: StoreConfig): Promise<RawStore> {
  const raw = await openRaw(config, { clock, isHeld: false });
  onTestFinished(() => raw.close());
  return raw;
}

/** All rows, step by step, and how many each step had. */
async function readAll(raw: RawStore): Promise<{ rows: RawRow[]; steps: number[] }> {
  const rows: RawRow[] = [];
  const steps: number[] = [];
  for (let step = await raw.read(undefined); step.length > 0;) {
    rows.push(...step);
    steps.push(step.length);
    step = await raw.read(rows.at(-1)?.key);
  }
  return { rows, steps };
}

const { drivers, fresh } = storePlaces();

describe.each(drivers)('the rows of a %s store as they lie there', (driver) => {
  it('are those that were copied into it, expired or not, with their versions', async () => {
    const config = await fresh(driver);
    const rows = [
      rowOf(1),
      rowOf(2, { expiresAt: 5 }),
      rowOf(3, { expiresAt: 2_000_000.5 }),
      rowOf(4, { envelope: Buffer.from([0x62, 0, 255, 13, 10]) }),
    ];
    await fill(config, rows);
    const raw = await openHere(config);
    expect((await readAll(raw)).rows).toEqual(rows);
    expect(await raw.lastVersion()).toBe(50);
    expect(raw.meta.incoming).toBeUndefined();
    expect([await raw.users(), await raw.faults(rows.length)]).toEqual([[], []]);
  });

  it('are rows of a store as any other, whose later versions are higher', async () => {
    const config = await fresh(driver);
    await fill(config, [rowOf(1), rowOf(2, { expiresAt: 5 })], 70);
    const store = await openStore(config, { clock });
    onTestFinished(() => store.close());
    expect(await store.get(['k', 1])).toMatchObject({ value: 1 });
    expect(await store.get(['k', 2])).toBeUndefined();
    await store.commit([{ type: 'put', key: ['k', 3], value: 3 }]);
    expect(Number((await store.get(['k', 3]))?.version)).toBeGreaterThan(70);
  });

  it('are gone when another copy begins, and nobody takes what is half copied for a store', async () => {
    const config = await fresh(driver);
    await fill(config, [rowOf(1), rowOf(2)]);
    const target = await openRawTarget(config, clock);
    await target.begin(FROM);
    await target.write([rowOf(7)]);
    await target.flush(9);
    await target.close();
    const raw = await openRaw(config, { clock, isHeld: false });
    expect((await readAll(raw)).rows).toEqual([rowOf(7)]);
    expect(raw.meta.incoming).toEqual(FROM);
    await raw.close();
    await expect(openStore(config, { clock })).rejects.toMatchObject({ code: 'locked' });
  });

  it('are nowhere where there is no store', async () => {
    const config = await fresh(driver);
    await expect(openRaw(config, { clock, isHeld: false })).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('there is no store'),
    });
  });

  it('are none in a store that is new', async () => {
    const config = await fresh(driver);
    const target = await openRawTarget(config, clock);
    expect([await target.read(undefined), await target.lastVersion()]).toEqual([[], 0]);
    await target.close();
  });
});

// Each reads many megabytes.
it.each(inTurn('steps of a store', drivers))(
  'the rows of a %s store are read in steps of bounded numbers and sizes',
  async (driver) => {
    const config = await fresh(driver);
    const large = Buffer.concat([Buffer.from('b'), Buffer.alloc(STEP_BYTES / 4, 1)]);
    const many = Array.from({ length: STEP_ROWS + 1 }, (_, n) => rowOf(n));
    const wide = Array.from({ length: 6 }, (_, n) => rowOf(2_000 + n, { envelope: large }));
    await fill(config, [...many, ...wide]);
    const { rows, steps } = await readAll(await openHere(config));
    expect(rows.map(({ key }) => key)).toEqual([...many, ...wide].map(({ key }) => key));
    expect(Math.max(...steps)).toBe(STEP_ROWS);
    // The last step that fits some of the wide rows leaves others to the next one.
    expect(steps.length).toBeGreaterThanOrEqual(3);
  },
);
