import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createWorkers } from '../../../src/server/process/workers.ts';
import type { SentSettings } from '../../../src/server/process/worker-settings.ts';
import { createLog } from '../../../src/core/log.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

afterEach(() => vi.restoreAllMocks());

const settings = (workers: number): SentSettings =>
  ({
    server: { workers, listen: { host: '127.0.0.1' } },
    origins: new Map(),
  }) as unknown as SentSettings;

/** Workers that listen at once, unless they are told to end instead. */
function setUp() {
  const alive = new Set<number>();
  const state = { listens: true };
  let last = 0;
  vi.spyOn(cluster, 'fork').mockImplementation(() => {
    const id = ++last;
    const end = (): void => void (alive.delete(id) && worker.emit('exit', 0, null));
    const worker = Object.assign(new EventEmitter(), {
      id,
      process: { pid: id, kill: () => setImmediate(end) },
      isConnected: () => false,
    });
    alive.add(id);
    const { listens } = state;
    setImmediate(() => (listens ? worker.emit('listening', {}) : end()));
    return worker as unknown as Worker;
  });
  const log = createLog({
    clock: createFakeClock(),
    level: 'error',
    format: 'json',
    write: () => undefined,
  });
  const workers = createWorkers(settings(4), { log, onListening: async () => undefined });
  /** Starts the first four, which listen. */
  const start = async (): Promise<void> => {
    await workers.replace(settings(4));
    await new Promise(setImmediate);
  };
  return { workers, start, state, alive };
}

describe('workers that are replaced', () => {
  it('give way to fewer or more, which are all new', async () => {
    const { workers, start, alive } = setUp();
    await start();
    expect([...alive]).toEqual([1, 2, 3, 4]);
    await workers.replace(settings(2));
    expect(alive.size).toBe(2);
    expect(Math.min(...alive)).toBeGreaterThan(4);
    const before = Math.max(...alive);
    await workers.replace(settings(3));
    expect(alive.size).toBe(3);
    expect(Math.min(...alive)).toBeGreaterThan(before);
  });

  it.each([2, 6])('serve on as they are where a new one does not listen: %i', async (count) => {
    const { workers, start, state, alive } = setUp();
    await start();
    state.listens = false;
    await expect(workers.replace(settings(count))).rejects.toThrow('did not come to listen');
    state.listens = true;
    expect([...alive]).toEqual([1, 2, 3, 4]);
    await workers.replace(settings(4));
    expect(alive.size).toBe(4);
  });
});
