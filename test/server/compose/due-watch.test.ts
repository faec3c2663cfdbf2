import { expect, it, onTestFinished, vi } from 'vitest';
import { DueWatch } from '../../../src/server/compose/due-watch.ts';
import type { DueWatchOptions } from '../../../src/server/compose/due-watch.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

function setUp(begin: () => Promise<void> = async () => undefined) {
  const clock = createFakeClock();
  const rows: object[] = [];
  const [begun, report] = [vi.fn(begin), vi.fn()];
  const watchers = new Set<() => void>();
  const store = {
    list: async () => rows,
    watch(_prefix: unknown, listener: () => void) {
      watchers.add(listener);
      return () => watchers.delete(listener);
    },
  } as unknown as DueWatchOptions['store'];
  const watch = new DueWatch({ store, clock, begin: begun, report });
  onTestFinished(() => watch.close());
  const add = (): void => {
    rows.push({});
    watchers.forEach((tell) => tell());
  };
  return { clock, rows, watch, watchers, begun, report, add };
}

it('begins once, with the first Schedule, and looks no more', async () => {
  const { clock, begun, watchers, add } = setUp();
  await vi.waitFor(() => expect(clock.pending).toBe(1));
  expect(begun).not.toHaveBeenCalled();
  add();
  await vi.waitFor(() => expect(begun).toHaveBeenCalledTimes(1));
  await vi.waitFor(() => expect([clock.pending, watchers.size]).toEqual([0, 0]));
});

it('sees within 10 seconds a Schedule of which it was not told', async () => {
  const { clock, rows, begun } = setUp();
  await vi.waitFor(() => expect(clock.pending).toBe(1));
  rows.push({});
  clock.advance(10_000);
  await vi.waitFor(() => expect(begun).toHaveBeenCalledTimes(1));
});

it('tries again what could not begin', async () => {
  const failure = new Error('no such file');
  const { clock, begun, report, add } = setUp(async () => {
    if (begun.mock.calls.length === 1) throw failure;
  });
  await vi.waitFor(() => expect(clock.pending).toBe(1));
  add();
  await vi.waitFor(() => expect(report).toHaveBeenCalledWith(failure));
  await vi.waitFor(() => expect(clock.pending).toBe(1));
  clock.advance(10_000);
  await vi.waitFor(() => expect(begun).toHaveBeenCalledTimes(2));
});

it('begins nothing once it is closed', async () => {
  const { watch, watchers, begun } = setUp();
  await watch.close();
  expect([begun.mock.calls.length, watchers.size]).toEqual([0, 0]);
});
