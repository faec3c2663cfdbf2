import type { Worker } from 'node:cluster';
import type { Clock, Timer } from '../../core/time/clock.ts';
import type { MetricsText } from './metrics.ts';
import { askForSeries, offerSeries, onSeries } from './worker-channel.ts';

/** Longest wait for the answer of a worker. */
const ANSWER_MS = 1_000;

/** Series of one process, as the library gives them for its own sums; its types call `type` a number. */
type Series = readonly { readonly type: string }[];

/** Answers the first process, and gives the function that sends the series. Called in a worker. */
export async function offerMetrics(): Promise<() => Promise<void>> {
  return offerSeries(readSeries);
}

/**
 * Series of all workers together, for the first process. One that does not answer in time counts
 * with its last series. Counters and histograms of ended ones stay in the sums, so that none falls.
 */
export class WorkerMetrics {
  readonly #clock: Clock;
  readonly #members = new Set<Member>();
  #gone: Promise<Series> = Promise.resolve([]);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes in the series of a worker from now on. */
  watch(worker: Worker): void {
    const member = new Member(worker);
    this.#members.add(member);
    // All that it sent has come by then, which its exit does not say.
    worker.once('disconnect', () => {
      this.#members.delete(member);
      member.settle();
      const { told } = member;
      if (told) this.#gone = this.#gone.then(async (gone) => sumOf([gone, counted(told)]));
    });
  }

  /** Answer to a scrape. */
  async text(): Promise<MetricsText> {
    let timer: Timer | undefined;
    const late = new Promise<void>((resolve) => {
      timer = this.#clock.setTimeout(resolve, ANSWER_MS);
    });
    const asked = Promise.all(Array.from(this.#members, (member) => member.ask()));
    await Promise.race([asked, late]);
    timer?.cancel();
    const living = [...this.#members].flatMap(({ told }) => (told ? [told] : []));
    // Both are read in one step: a worker that goes meanwhile is in one of them.
    const gone = this.#gone;
    const sum = await aggregate([...living, counted(await readSeries()), await gone]);
    return { type: sum.contentType, text: await sum.metrics() };
  }
}

/** A worker that has not gone. */
class Member {
  readonly #worker: Worker;
  /** Undefined until it is ready to answer. */
  told: Series | undefined;
  #answer: Promise<void> | undefined;
  #answered: () => void = () => undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    onSeries(worker, (series) => {
      this.told = series as Series;
      this.settle();
    });
  }

  /** Resolves when it has sent its series; at once where it is not ready. */
  async ask(): Promise<void> {
    if (!this.told) return;
    if (!this.#answer) {
      this.#answer = new Promise((resolve) => (this.#answered = resolve));
      askForSeries(this.#worker);
    }
    await this.#answer;
  }

  /** Ends the waiting for an answer. */
  settle(): void {
    this.#answer = undefined;
    this.#answered();
  }
}

async function readSeries(): Promise<Series> {
  const { register } = await import('prom-client');
  return (await register.getMetricsAsJSON()) as unknown as Series;
}

/** Series that say how often or how much, which holds of a process that is gone; gauges say how it is. */
function counted(series: Series): Series {
  return series.filter(({ type }) => type === 'counter' || type === 'histogram');
}

async function sumOf(parts: Series[]): Promise<Series> {
  return (await (await aggregate(parts)).getMetricsAsJSON()) as unknown as Series;
}

async function aggregate(parts: Series[]) {
  const { AggregatorRegistry } = await import('prom-client');
  return AggregatorRegistry.aggregate(parts.map((part) => [...part]));
}
