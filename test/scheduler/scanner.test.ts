import { describe, expect, it, onTestFinished } from 'vitest';
import { dueKey } from '../../src/resources/store/due-index.ts';
import type { Due } from '../../src/scheduler/claim-due.ts';
import { Scanner } from '../../src/scheduler/scanner.ts';
import type { ScannerOptions } from '../../src/scheduler/scanner.ts';
import { openMemoryStore } from '../../src/store/backends/memory/open-memory-store.ts';
import { StoreError } from '../../src/store/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { eventually } from '../support/gateway.ts';
import { createRig, quiet } from './support.ts';

const START = Date.UTC(2026, 10, 21);

function setUp(options: Partial<ScannerOptions> = {}) {
  const clock = createFakeClock(START);
  const store = openMemoryStore(clock);
  const claimed: string[] = [];
  const reports: unknown[] = [];
  const claim = async ({ at, deploymentId }: Due): Promise<boolean> => {
    claimed.push(deploymentId);
    await store.commit([{ type: 'delete', key: dueKey(at, deploymentId) }]);
    return true;
  };
  const put = (at: number, id: string) =>
    store.commit([{ type: 'put', key: dueKey(at, id), value: { organization: 'org_1' } }]);
  const start = () => {
    const report = (error: unknown): void => void reports.push(error);
    const scanner = new Scanner({
      realign: async () => undefined,
      store,
      clock,
      random: () => 0.5,
      claim,
      report,
      ...options,
    });
    onTestFinished(() => scanner.close());
    return scanner;
  };
  return { clock, store, claimed, reports, claim, put, start };
}

describe('what looks for Schedules that are due', () => {
  it('claims those and no others, however many there are', async () => {
    const { claimed, put, start } = setUp();
    for (let index = 0; index < 300; index++) await put(START - index, `due ${index}`);
    await put(START + 1, 'not yet');
    start();
    await eventually(() => claimed.length === 300);
    expect(new Set(claimed).size).toBe(300);
    expect(claimed).not.toContain('not yet');
  });

  it('sleeps until the first is due, or until one is put before it', async () => {
    const { clock, claimed, put, start } = setUp();
    await put(START + 5_000, 'first');
    start();
    await eventually(() => clock.pending > 0);
    await put(START + 1_000, 'earlier');
    await eventually(() => {
      clock.advance(100);
      return claimed.length === 1;
    });
    expect(claimed).toEqual(['earlier']);
    await eventually(() => {
      clock.advance(100);
      return claimed.length === 2;
    });
  });

  it('goes on after a store that failed', async () => {
    let failures = 2;
    const rig = setUp();
    const claim = async (due: Due): Promise<boolean> => {
      if (failures-- > 0) throw new StoreError('unavailable', 'away');
      return rig.claim(due);
    };
    await rig.put(START, 'due');
    const scanner = new Scanner({
      realign: async () => undefined,
      store: rig.store,
      clock: rig.clock,
      random: Math.random,
      claim,
      report: (error) => void rig.reports.push(error),
    });
    onTestFinished(() => scanner.close());
    await eventually(() => {
      rig.clock.advance(1_000);
      return rig.claimed.length === 1;
    });
    expect(rig.reports).toHaveLength(2);
  });

  it('leaves alone for a minute what cannot be claimed, and claims the rest', async () => {
    const asked: string[] = [];
    const rig = setUp();
    const claim = async (due: Due): Promise<boolean> => {
      asked.push(due.deploymentId);
      if (due.deploymentId === 'bad') throw new RangeError('no such zone');
      return rig.claim(due);
    };
    const { clock, put } = rig;
    await put(START - 1, 'bad');
    const scanner = new Scanner({
      realign: async () => undefined,
      ...rig,
      claim,
      random: () => 0,
      report: () => undefined,
    });
    onTestFinished(() => scanner.close());
    await eventually(() => {
      clock.advance(100);
      return asked.length === 1 && clock.pending > 0;
    });
    await put(START, 'good');
    await eventually(() => rig.claimed.includes('good'));
    expect(asked.filter((id) => id === 'bad')).toHaveLength(1);
    await eventually(() => {
      clock.advance(10_000);
      return asked.filter((id) => id === 'bad').length === 2;
    });
  });

  it('stands back when others claim what it wants, and stops at once', async () => {
    let asked = 0;
    const { put, start } = setUp({
      realign: async () => undefined,
      claim: async () => {
        asked++;
        return false;
      },
    });
    await put(START, 'taken');
    const scanner = start();
    await eventually(() => asked === 1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(asked).toBe(1);
    await scanner.close();
  });

  it('drops a row that no Schedule stands behind', async () => {
    const rig = await createRig();
    rig.start();
    const id = await rig.make('0 7 * * *');
    const { organization, store, clock } = rig;
    const stale = [dueKey(clock.now() - 1, id), dueKey(clock.now() - 1, 'depl_gone')];
    await store.commit(stale.map((key) => ({ type: 'put', key, value: { organization } })));
    await eventually(async () => {
      clock.advance(50);
      return (await store.list({ prefix: ['schedule-due'] })).length === 1;
    });
    await quiet(store, clock);
    expect(await rig.runsOf(id)).toEqual([]);
    expect(rig.warnings).toEqual([]);
  });
});
