import { expect, it, onTestFinished } from 'vitest';
import { createIdSource } from '../../../../src/core/ids.ts';
import { NO_USAGE } from '../../../../src/core/usage.ts';
import { openMemoryStore } from '../../../../src/store/backends/memory/open-memory-store.ts';
import type { Store } from '../../../../src/store/store.ts';
import { flightKey, requestKey } from '../../../../src/usage/ledger/ledger-keys.ts';
import type { RequestChange } from '../../../../src/usage/requests/live/request-change.ts';
import { RequestFeed } from '../../../../src/usage/requests/live/request-feed.ts';
import type {
  KnownStart,
  RequestSignals,
} from '../../../../src/usage/requests/live/request-signals.ts';
import { toEndRow, toStartRow } from '../../../../src/usage/requests/request-row.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';
import { principal } from '../../usage-fixtures.ts';

const OUTCOME = {
  status: 200,
  result: 'ok',
  attempts: [],
  usage: NO_USAGE,
  estimated: false,
  cost: 0,
  losses: [],
  overheadUs: 1,
  firstContentMs: 1,
  totalMs: 5,
} as const;

function setup() {
  const clock = createFakeClock();
  const memory = openMemoryStore(clock);
  let reads = 0;
  const store: Store = {
    ...memory,
    get: (key) => ((reads += 1), memory.get(key)),
    list: (options) => ((reads += 1), memory.list(options)),
  };
  const ids = createIdSource(clock);
  const signals: RequestSignals = { listener: undefined };
  const feed = new RequestFeed({
    store,
    clock,
    signals,
    requestTimeoutMs: 30_000,
    onFollowError: (error) => {
      throw error;
    },
  });
  const beats: string[][] = [];
  const told = (changes: readonly RequestChange[]): void => {
    beats.push(changes.map(({ id, end }) => `${id} ${end ? 'ended' : 'begun'}`));
  };
  const begin = (): KnownStart => ({
    id: ids.next('req'),
    at: clock.now(),
    principal: principal(),
    surface: 'chat',
    model: 'acme/one',
    stream: false,
  });
  const row = (start: KnownStart) =>
    toEndRow(
      toStartRow(start),
      { ...OUTCOME, attempts: [], losses: [], totalMs: clock.now() - start.at },
      false,
    );
  return {
    clock,
    store,
    signals,
    feed,
    begin,
    beats,
    reads: () => reads,
    async listen() {
      const leave = await feed.listen(told);
      onTestFinished(leave);
      return leave;
    },
    end(start: KnownStart) {
      signals.listener?.ended(start, { ...OUTCOME, attempts: [], losses: [] });
    },
    /** Another process begins a call, and ends it. */
    async elsewhere(start: KnownStart, isOver: boolean) {
      const key = flightKey(start.id, 1);
      const value = isOver ? row(start) : [[start.id, toStartRow(start)]];
      await memory.commit(
        isOver
          ? [
              { type: 'put', key: requestKey(start.id), value },
              { type: 'delete', key },
            ]
          : [{ type: 'put', key, value }],
      );
    },
    async look() {
      clock.advance(1_000);
      for (let turn = 0; turn < 50; turn++) await Promise.resolve();
      clock.advance(100);
    },
  };
}

it('does nothing and keeps nothing while nobody listens', async () => {
  const { clock, signals, listen, reads } = setup();
  expect(signals.listener).toBeUndefined();
  const leave = await listen();
  expect(signals.listener).toBeDefined();
  leave();
  expect(signals.listener).toBeUndefined();
  const before = reads();
  clock.advance(60_000);
  expect(reads()).toBe(before);
  expect(clock.pending).toBe(0);
});

it('tells what happens in this process at most ten times a second, and the last state alone', async () => {
  const { clock, signals, listen, begin, end, beats } = setup();
  await listen();
  const [slow, quick] = [begin(), begin()];
  signals.listener?.begun(slow);
  signals.listener?.begun(quick);
  end(quick);
  expect(beats).toEqual([]);
  clock.advance(100);
  expect(beats).toEqual([[`${slow.id} begun`, `${quick.id} ended`]]);
  // Too late, and once more.
  signals.listener?.begun(quick);
  end(quick);
  end(slow);
  for (let n = 0; n < 50; n++) end(begin());
  clock.advance(100);
  expect(beats).toHaveLength(2);
  expect(beats[1]).toHaveLength(51);
});

it('finds what other processes did, and tells nothing of what was before', async () => {
  const { clock, listen, begin, beats, elsewhere, look } = setup();
  const [old, long] = [begin(), begin()];
  await elsewhere(old, true);
  await elsewhere(long, false);
  clock.advance(60_000);
  await listen();
  await look();
  expect(beats).toEqual([]);
  const short = begin();
  await elsewhere(short, true);
  await look();
  expect(beats.flat()).toEqual([`${short.id} ended`]);
  await elsewhere(long, true);
  await look();
  expect(beats.flat()).toEqual([`${short.id} ended`, `${long.id} ended`]);
});
