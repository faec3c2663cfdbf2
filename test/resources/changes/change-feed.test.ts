import { describe, expect, it, vi } from 'vitest';
import { createChangeFeed } from '../../../src/resources/changes/change-feed.ts';
import type { Store } from '../../../src/store/store.ts';
import { makeResources } from '../make-resources.ts';

function setUp(overrides: Partial<Store> = {}) {
  const resources = makeResources();
  const store: Store = { ...resources.store, ...overrides };
  const others = resources.clock.pending;
  const errors: unknown[] = [];
  const feed = createChangeFeed({
    store,
    clock: resources.clock,
    onError: (error) => errors.push(error),
  });
  let changes = 0;
  const change = () => resources.call('POST organizations', { body: { name: `o${changes++}` } });
  return { ...resources, feed, errors, change, others };
}

describe('createChangeFeed', () => {
  it('tells of a change as soon as the store does', async () => {
    const { feed, change } = setUp();
    const seen = vi.fn(async () => undefined);
    feed.subscribe(seen);
    await change();
    await vi.waitFor(() => expect(seen).toHaveBeenCalledTimes(1));
    await change();
    await vi.waitFor(() => expect(seen).toHaveBeenCalledTimes(2));
    feed.close();
  });

  it('notices within half a second when the bell is lost', async () => {
    const { feed, change, clock } = setUp({ watch: () => () => undefined });
    const seen = vi.fn(async () => undefined);
    feed.subscribe(seen);
    await change();
    clock.advance(499);
    await settle();
    expect(seen).not.toHaveBeenCalled();
    clock.advance(1);
    await vi.waitFor(() => expect(seen).toHaveBeenCalledTimes(1));
    clock.advance(500);
    await settle();
    expect(seen).toHaveBeenCalledTimes(1);
    feed.close();
  });

  it('runs one at a time and once more for what came meanwhile', async () => {
    const { feed, change } = setUp();
    let running = 0;
    let most = 0;
    let runs = 0;
    let finish: () => void = () => undefined;
    feed.subscribe(async () => {
      runs += 1;
      most = Math.max(most, ++running);
      if (runs === 1) await new Promise<void>((resolve) => (finish = resolve));
      running -= 1;
    });
    await change();
    await vi.waitFor(() => expect(runs).toBe(1));
    await change();
    await change();
    await settle();
    expect(runs).toBe(1);
    finish();
    await vi.waitFor(() => expect(runs).toBe(2));
    await settle();
    expect([runs, most]).toEqual([2, 1]);
    feed.close();
  });

  it('goes on looking every half second', async () => {
    const { feed, change, clock } = setUp({ watch: () => () => undefined });
    const seen = vi.fn(async () => undefined);
    feed.subscribe(seen);
    for (let times = 1; times <= 3; times++) {
      await change();
      clock.advance(500);
      await vi.waitFor(() => expect(seen).toHaveBeenCalledTimes(times));
      await settle();
    }
    feed.close();
  });

  it('waits for the slow subscriber although another one failed', async () => {
    const { feed, change, clock, errors } = setUp();
    let finish: () => void = () => undefined;
    const slow = vi.fn(() => new Promise<void>((resolve) => (finish = resolve)));
    feed.subscribe(slow);
    feed.subscribe(async () => Promise.reject(new Error('not now')));
    await change();
    await vi.waitFor(() => expect(slow).toHaveBeenCalledTimes(1));
    clock.advance(2000);
    await settle();
    expect(slow).toHaveBeenCalledTimes(1);
    finish();
    await vi.waitFor(() => expect(errors.length).toBeGreaterThan(0));
    feed.close();
  });

  it('reports a subscriber that fails and runs it again at the next look', async () => {
    const { feed, change, clock, errors } = setUp();
    const seen = vi.fn(async () => undefined).mockRejectedValueOnce(new Error('not now'));
    feed.subscribe(seen);
    await change();
    await vi.waitFor(() => expect(errors).toEqual([new Error('not now')]));
    clock.advance(500);
    await vi.waitFor(() => expect(seen).toHaveBeenCalledTimes(2));
    feed.close();
  });

  it('tells who catches up that the store cannot be read', async () => {
    let isAway = true;
    const { store } = makeResources();
    const get: Store['get'] = (key) =>
      isAway ? Promise.reject(new Error('away')) : store.get(key);
    const { feed } = setUp({ get });
    await expect(feed.catchUp()).rejects.toThrow('away');
    isAway = false;
    await feed.catchUp();
    feed.close();
  });

  it('knows how old its knowledge is while the store cannot be read', async () => {
    let isAway = false;
    const { store } = makeResources();
    const get: Store['get'] = (key) =>
      isAway ? Promise.reject(new Error('away')) : store.get(key);
    const { feed, clock } = setUp({ get });
    await feed.catchUp();
    expect(feed.ageMs()).toBe(0);
    isAway = true;
    for (let age = 500; age <= 2_000; age += 500) {
      clock.advance(500);
      await settle();
      expect(feed.ageMs()).toBe(age);
    }
    isAway = false;
    clock.advance(500);
    await vi.waitFor(() => expect(feed.ageMs()).toBe(0));
    feed.close();
  });

  it('is silent after its end', async () => {
    const { feed, change, clock, others } = setUp();
    const seen = vi.fn(async () => undefined);
    feed.subscribe(seen);
    feed.close();
    await change();
    clock.advance(5000);
    await settle();
    expect(seen).not.toHaveBeenCalled();
    expect(clock.pending).toBe(others);
  });
});

/** Lets everything that is ready run. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}
