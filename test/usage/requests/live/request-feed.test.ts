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

function setup(mark?: string) {
  let alone = mark;
  let kept: (() => Promise<void>) | undefined;
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
    alone: () => alone,
    fold: async () => kept?.(),
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
    /** Undefined: others come. */
    setAlone: (next: string | undefined) => void (alone = next),
    /** Stores what waits for its commit. */
    setKept: (next: () => Promise<void>) => void (kept = next),
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
    async look(times = 1) {
      for (let time = 0; time < times; time++) {
        clock.advance(1_000);
        for (let turn = 0; turn < 100; turn++) await Promise.resolve();
        clock.advance(100);
      }
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

it('has nothing in flight that ended before and waited for its commit', async () => {
  const { feed, begin, elsewhere, listen, setKept } = setup('term');
  const start = begin();
  await elsewhere(start, false);
  setKept(() => elsewhere(start, true));
  await listen();
  expect(feed.inFlight()).toEqual([]);
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

it('finds a call of others whose id was old before it began', async () => {
  const { clock, listen, begin, beats, elsewhere, look } = setup();
  await listen();
  const late = begin();
  for (let second = 0; second < 20; second++) await look();
  await elsewhere({ ...late, at: clock.now() }, true);
  await look(10);
  expect(beats.flat()).toEqual([`${late.id} ended`]);
  await look(60);
  expect(beats.flat()).toHaveLength(1);
});

it('asks the store for nothing while nobody else is on it', async () => {
  const { signals, listen, begin, end, beats, look, reads } = setup('1');
  await listen();
  const before = reads();
  const [one, open] = [begin(), begin()];
  signals.listener?.begun(one);
  end(one);
  signals.listener?.begun(open);
  await look(9);
  expect(beats).toEqual([[`${one.id} ended`, `${open.id} begun`]]);
  expect(reads()).toBe(before);
});

it('tells each call once when others come, and when they have gone', async () => {
  const { signals, listen, begin, end, beats, elsewhere, look, setAlone, reads } = setup('1');
  const old = begin();
  await elsewhere(old, true);
  await listen();
  const own = begin();
  signals.listener?.begun(own);
  end(own);
  await elsewhere(own, true);
  await look(2);
  const body = begin();
  await look(8);
  setAlone(undefined);
  await elsewhere(body, true);
  await look();
  const told = [`${own.id} ended`, `${body.id} ended`];
  expect(beats.flat()).toEqual(told);
  const last = begin();
  await elsewhere(last, true);
  setAlone('2');
  await look();
  expect(beats.flat()).toEqual([...told, `${last.id} ended`]);
  const before = reads();
  await look(5);
  expect(reads()).toBe(before);
  // Others came and went between two looks.
  const quick = begin();
  await elsewhere(quick, true);
  setAlone('3');
  await look(40);
  expect(beats.flat()).toEqual([...told, `${last.id} ended`, `${quick.id} ended`]);
});

it('knows at once which of the calls that share a row are still in flight', async () => {
  const { store, feed, begin, listen, beats, end, look } = setup('1');
  const [over, open] = [begin(), begin()];
  const flight = [over, open].map((start) => [start.id, toStartRow(start)]);
  const record = toEndRow(
    toStartRow(over),
    { ...OUTCOME, attempts: [], losses: [], totalMs: -60_000 },
    false,
  );
  await store.commit([
    { type: 'put', key: flightKey(over.id, 1), value: flight },
    { type: 'put', key: requestKey(over.id), value: record },
  ]);
  await listen();
  expect(feed.inFlight().map(({ id }) => id)).toEqual([open.id]);
  end(open);
  await look(40);
  expect(beats.flat()).toEqual([`${open.id} ended`]);
  expect(feed.inFlight()).toEqual([]);
});

it('stops for good although the last listener leaves in the middle of a look', async () => {
  const { clock, feed, reads } = setup();
  const listening = feed.listen(() => undefined);
  const again = feed.listen(() => undefined);
  for (const leave of await Promise.all([listening, again])) {
    clock.advance(1_000);
    leave();
  }
  for (let turn = 0; turn < 100; turn++) await Promise.resolve();
  const before = reads();
  clock.advance(60_000);
  expect([reads(), clock.pending]).toEqual([before, 0]);
});
