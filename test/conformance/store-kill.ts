import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/core/time/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { KeyPart, Store } from '../../src/store/store.ts';
import { verifies } from '../requirements.ts';
import { spawnWriter } from '../store/support/spawn-writer.ts';

/** A directory that goes when the test is over. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'store-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }));
  return directory;
}

async function numbersBelow(store: Store, prefix: KeyPart[]): Promise<number[]> {
  const entries = await store.list({ prefix, limit: 10_000 });
  return entries.map((entry) => Number(entry.key.at(-1)));
}

/** Every acknowledged commit of a killed writer is there, and every commit is whole. */
export async function expectWhole(
  store: Store,
  writer: string,
  acknowledged: readonly number[],
): Promise<void> {
  const a = await numbersBelow(store, ['a', writer]);
  const b = await numbersBelow(store, ['b', writer]);
  expect(b).toEqual(a);
  const present = new Set(a);
  expect(acknowledged.filter((n) => !present.has(n))).toEqual([]);
  const head = await store.get<number>(['head', writer]);
  expect(present.has(head?.value ?? -1)).toBe(true);
}

/** Kills a real process in the middle of its writes, again and again on the same data. */
export function storeSurvivesKill(driver: string): void {
  describe(`${driver} store after kill -9`, () => {
    it(
      verifies(
        'store.atomic.multi-object',
        'holds every acknowledged commit, and every commit whole',
      ),
      async () => {
        const path = await temporaryDirectory();
        for (const [round, commits] of [40, 90].entries()) {
          const name = `w${round}`;
          const writer = spawnWriter(driver, path, name);
          await writer.reached(commits);
          await writer.kill();
          const store = await openStore({ driver, path }, { clock: systemClock });
          await expectWhole(store, name, writer.acknowledged);
          const count = await store.get<number>(['count']);
          expect(count?.value).toBeGreaterThanOrEqual(writer.acknowledged.length);
          await store.close();
        }
      },
    );
  });
}
