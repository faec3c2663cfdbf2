import type { Worker } from 'node:cluster';
import { EventEmitter } from 'node:events';
import { Counter, Gauge, Histogram, register, Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WorkerMetrics } from '../../../src/server/process/worker-metrics.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import type { FakeClock } from '../../support/fake-clock.ts';

/** A worker with series of its own, which it tells over a channel as Node.js does: as JSON. */
class FakeWorker extends EventEmitter {
  /** False for one that is stopped. */
  answers = true;
  readonly asked: unknown[] = [];
  readonly #registry = new Registry();
  readonly requests = new Counter({ name: 'requests', help: 'h', registers: [this.#registry] });
  readonly waiting = new Gauge({ name: 'waiting', help: 'h', registers: [this.#registry] });
  readonly #time = new Histogram({
    name: 'time',
    help: 'h',
    buckets: [1],
    registers: [this.#registry],
  });

  isConnected(): boolean {
    return true;
  }

  send(message: unknown): void {
    this.asked.push(message);
    if (this.answers) void this.tell();
  }

  async tell(): Promise<void> {
    const series = JSON.parse(JSON.stringify(await this.#registry.getMetricsAsJSON())) as unknown;
    this.emit('message', { type: 'gateway:series', series });
  }

  take(count: number): void {
    this.requests.inc(count);
    for (let index = 0; index < count; index++) this.#time.observe(0.5);
  }
}

let clock: FakeClock;
let metrics: WorkerMetrics;

beforeEach(() => {
  register.clear();
  clock = createFakeClock();
  metrics = new WorkerMetrics(clock);
});
afterEach(() => register.clear());

async function ready(): Promise<FakeWorker> {
  const worker = new FakeWorker();
  metrics.watch(worker as unknown as Worker);
  await worker.tell();
  return worker;
}

/** Lines of the answer that are no comments. */
async function scrape(): Promise<string[]> {
  const { text } = await metrics.text();
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

it('sums what workers count now', async () => {
  const [one, other] = [await ready(), await ready()];
  one.take(2);
  other.take(1);
  one.waiting.set(3);
  expect(await scrape()).toEqual(
    expect.arrayContaining(['requests 3', 'waiting 3', 'time_bucket{le="1"} 3', 'time_count 3']),
  );
});

it('keeps in its counters what gone workers told last, and drops their gauges', async () => {
  const [killed, stopped] = [await ready(), await ready()];
  killed.take(2);
  killed.waiting.set(1);
  stopped.take(3);
  expect(await scrape()).toContain('requests 5');
  stopped.take(4);
  await stopped.tell();
  for (const worker of [killed, stopped]) worker.emit('disconnect');
  const alone = await scrape();
  expect(alone).toEqual(
    expect.arrayContaining(['requests 9', 'time_bucket{le="+Inf"} 9', 'time_count 9']),
  );
  expect(alone.join()).not.toContain('waiting');
  (await ready()).take(1);
  expect(await scrape()).toEqual(expect.arrayContaining(['requests 10', 'waiting 0']));
});

it('takes what a worker told last where it does not answer within a second', async () => {
  const [quick, stopped] = [await ready(), await ready()];
  stopped.take(5);
  await stopped.tell();
  stopped.answers = false;
  quick.take(1);
  for (let scrapes = 0; scrapes < 2; scrapes++) {
    const lines = scrape();
    await new Promise(setImmediate);
    clock.advance(1_000);
    expect(await lines).toContain('requests 6');
  }
  expect(stopped.asked).toHaveLength(1);
  stopped.take(1);
  await stopped.tell();
  stopped.answers = true;
  expect(await scrape()).toContain('requests 7');
  expect(clock.pending).toBe(0);
});

it('waits for nobody that goes meanwhile, or is not ready yet', async () => {
  const gone = await ready();
  gone.answers = false;
  gone.take(1);
  const starting = new FakeWorker();
  metrics.watch(starting as unknown as Worker);
  const lines = scrape();
  gone.emit('disconnect');
  expect(await lines).toEqual(expect.arrayContaining(['requests 0']));
  expect(starting.asked).toEqual([]);
});

it('counts what the first process counted itself', async () => {
  const own = new Counter({ name: 'requests', help: 'h' });
  own.inc(2);
  new Gauge({ name: 'waiting', help: 'h' }).set(9);
  (await ready()).take(1);
  expect(await scrape()).toEqual(expect.arrayContaining(['requests 3', 'waiting 0']));
});
