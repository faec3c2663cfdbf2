import { describe, expect, it, onTestFinished } from 'vitest';
import { openChangeFeed } from '../../src/store/backends/lmdb/change-feed.ts';
import { createWatchers } from '../../src/store/watchers.ts';
import { encodeKey } from '../../src/store/key-codec.ts';
import { toId } from '../../src/store/prepare-commit.ts';
import type { Key } from '../../src/store/store.ts';
import { temporaryDirectory } from '../conformance/store-kill.ts';
import { until } from '../conformance/store.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const START = 2 ** 32 - 2;
const id = (key: Key): string => toId(encodeKey(key));
const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

/** Processes that share a directory, each with a watcher of `a` and one of `b`. */
async function neighbours(count: number) {
  const directory = await temporaryDirectory();
  const shared = { last: START };
  const processes = Array.from({ length: count }, () => {
    const clock = createFakeClock();
    const watchers = createWatchers();
    const calls = { a: 0, b: 0 };
    watchers.add(['a'], () => calls.a++);
    watchers.add(['b', 'x'], () => calls.b++);
    const lastTransaction = () => shared.last;
    const refresh = () => undefined;
    const feed = openChangeFeed({ directory, clock, watchers, lastTransaction, refresh });
    onTestFinished(() => feed.close());
    return { clock, calls, feed };
  });
  return { shared, processes };
}

describe('change feed', () => {
  it('wakes a watcher within a second when nobody rang', async () => {
    const { shared, processes } = await neighbours(1);
    const [only] = processes;
    shared.last++;
    only?.clock.advance(1_000);
    await turn();
    expect(only?.calls).toEqual({ a: 1, b: 1 });
  });

  it('does not wake anyone again for what was rung or published, across the 32-bit wrap', async () => {
    const { shared, processes } = await neighbours(2);
    const [near, far] = processes;
    if (!near || !far) throw new Error('two were asked for');
    for (let i = 0; i < 4; i++) {
      shared.last++;
      // A ring may go by before the connection stands; wait for the one that arrives.
      await until(async () => {
        near.feed.publish(shared.last % 2 ** 32, [id(['a', 1])]);
        await turn();
        return far.calls.a > i;
      });
      far.calls.a = i + 1;
      near.calls.a = i + 1;
    }
    await turn();
    const before = [{ ...near.calls }, { ...far.calls }];
    for (let i = 0; i < 5; i++) {
      near.clock.advance(400);
      far.clock.advance(400);
      await turn();
    }
    expect([near.calls, far.calls]).toEqual(before);
    expect([near.calls.b, far.calls.b]).toEqual([0, 0]);
  });

  it('names fewer places, or none, where a transaction touched many', async () => {
    const { shared, processes } = await neighbours(2);
    const [near, far] = processes;
    if (!near || !far) throw new Error('two were asked for');
    const ring = async (keys: Key[], heard: () => boolean) => {
      shared.last++;
      await until(async () => {
        near.feed.publish(shared.last % 2 ** 32, keys.map(id));
        await turn();
        return heard();
      });
    };
    const many = Array.from({ length: 100 }, (_, i) => i);
    await ring(
      many.map((i) => ['b', i]),
      () => far.calls.b > 0,
    );
    expect(far.calls.a).toBe(0);
    await ring(
      many.map((i) => [i, 'x']),
      () => far.calls.a > 0,
    );
  });
});
