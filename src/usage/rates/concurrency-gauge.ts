import type { Clock } from '../../core/time/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import { StoreError } from '../../store/store.ts';
import type { Key, Op, Store, Version } from '../../store/store.ts';

/** Requests in flight by worker. */
type InFlight = Record<string, number>;

const MAX_ATTEMPTS = 200;
const MAX_WAITING = 50_000;
const RETRY_MS = 1_000;

interface Entrance {
  readonly cap: number;
  readonly resolve: (entered: boolean) => void;
  readonly reject: (error: unknown) => void;
}

interface ConcurrencyGaugeOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly worker: string;
  readonly key: Key;
  readonly alive: () => Promise<ReadonlySet<string>>;
}

/**
 * The slots of one key, over every process on the store. Each worker writes its own count into the shared
 * record, as it is and not as a difference, so a commit whose outcome is unknown is made good by the next.
 */
export class ConcurrencyGauge {
  readonly #options: ConcurrencyGaugeOptions;
  /** Requests of this worker. */
  #mine = 0;
  /** Part of that which the store has, as far as is known. */
  #stored = 0;
  #known = false;
  #version: Version | undefined;
  #others: InFlight = {};
  #waiting: Entrance[] = [];
  #running = false;

  constructor(options: ConcurrencyGaugeOptions) {
    this.#options = options;
  }

  /** No request is in, waits, or is still to be signed off. */
  get idle(): boolean {
    return !this.#running && this.#mine === 0 && this.#stored === 0;
  }

  /** True once the slot is committed, false when all are taken. Rejects with `persistence_failed`. */
  enter(cap: number): false | Promise<boolean> {
    if (this.#mine >= cap) return false;
    if (this.#waiting.length >= MAX_WAITING) throw new GatewayError('persistence_failed');
    return new Promise((resolve, reject) => {
      this.#waiting.push({ cap, resolve, reject });
      this.#schedule();
    });
  }

  leave(): void {
    this.#mine--;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#running) return;
    this.#running = true;
    setImmediate(() => void this.#run());
  }

  /** All that come and go in one turn share a commit. */
  async #run(): Promise<void> {
    while (this.#waiting.length > 0 || !this.#known || this.#mine !== this.#stored) {
      const entrances = this.#waiting;
      this.#waiting = [];
      try {
        await this.#commit(entrances);
      } catch (cause) {
        this.#known = false;
        const error = new GatewayError('persistence_failed', { cause });
        for (const { reject } of entrances) reject(error);
        if (this.#waiting.length > 0) continue;
        // Requests that left must be signed off even if no other one follows.
        this.#options.clock.setTimeout(() => void this.#run(), RETRY_MS);
        return;
      }
    }
    this.#running = false;
  }

  async #commit(entrances: readonly Entrance[]): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (!this.#known) await this.#read();
      let others = sumOf(this.#others);
      let { entered, answers } = this.#decide(entrances, others);
      if (others > 0 && answers.includes(false)) {
        await this.#forgetDead();
        others = sumOf(this.#others);
        ({ entered, answers } = this.#decide(entrances, others));
      }
      if (await this.#put(this.#mine + entered)) {
        this.#mine += entered;
        for (const [index, { resolve }] of entrances.entries()) resolve(answers[index] === true);
        return;
      }
      this.#known = false;
    }
    throw new StoreError('unavailable', 'other workers kept changing the same counter');
  }

  #decide(entrances: readonly Entrance[], others: number): { entered: number; answers: boolean[] } {
    const before = this.#mine + others;
    let entered = 0;
    const answers = entrances.map(({ cap }) => before + entered < cap && ++entered > 0);
    return { entered, answers };
  }

  /** Writes this worker's count, and in any case makes sure that the others' are as known. */
  async #put(mine: number): Promise<boolean> {
    const op = this.#toOp(mine);
    if (op !== undefined) {
      const result = await this.#options.store.commit([op]);
      if (!result.ok) return false;
      if (op.type === 'put') this.#version = result.version;
      if (op.type === 'delete') this.#version = undefined;
    }
    this.#stored = mine;
    return true;
  }

  #toOp(mine: number): Op | undefined {
    const { key, worker } = this.#options;
    const value: InFlight = mine > 0 ? { ...this.#others, [worker]: mine } : this.#others;
    const ifVersion = this.#version;
    if (ifVersion === undefined) {
      return sumOf(value) === 0 ? undefined : { type: 'put', key, value, ifAbsent: true };
    }
    if (sumOf(value) === 0) return { type: 'delete', key, ifVersion };
    return mine === this.#stored
      ? { type: 'check', key, ifVersion }
      : { type: 'put', key, value, ifVersion };
  }

  async #read(): Promise<void> {
    const { store, key, worker } = this.#options;
    const entry = await store.get<InFlight>(key);
    const { [worker]: stored = 0, ...others } = entry?.value ?? {};
    this.#version = entry?.version;
    this.#others = others;
    this.#stored = stored;
    this.#known = true;
  }

  async #forgetDead(): Promise<void> {
    const alive = await this.#options.alive();
    this.#others = Object.fromEntries(
      Object.entries(this.#others).filter(([worker]) => alive.has(worker)),
    );
  }
}

function sumOf(counts: InFlight): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
