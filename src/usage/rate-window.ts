import type { Clock } from '../core/clock.ts';
import { GatewayError } from '../core/errors.ts';
import { StoreError } from '../store/store.ts';
import type { Entry, Key, Op, Store } from '../store/store.ts';

const WINDOW_MS = 60_000;
const ENTRY_TTL_MS = 2 * WINDOW_MS;
/** The head numbers the entries, so it outlasts them all. */
const HEAD_TTL_MS = 10 * WINDOW_MS;
const PAGE = 10_000;
const MAX_ATTEMPTS = 200;
const MAX_WAITING = 50_000;

/** Requests accepted at one instant; `total` numbers the last of them. */
interface Accepted {
  readonly at: number;
  readonly count: number;
  readonly total: number;
}

interface Claim {
  readonly cap: number;
  readonly resolve: (accepted: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The requests accepted in the last 60 seconds under one cap. The store has a head, which every commit
 * replaces on the condition that it is the one known, and one small entry per commit; so a commit costs
 * the same at every cap, and entries of other processes are read only when one got in between.
 */
export class RateWindow {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #name: Key;
  /** What counts, oldest first; other processes can only have added to it. */
  #accepted: Accepted[] = [];
  #inWindow = 0;
  #head: Entry<number> | undefined;
  #known = false;
  #waiting: Claim[] = [];
  #running = false;

  constructor(options: { store: Store; clock: Clock; name: Key }) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#name = options.name;
  }

  /** Nothing counts and nobody waits. */
  get idle(): boolean {
    return !this.#running && this.#countAt(this.#clock.now()) === 0;
  }

  /**
   * True once the acceptance is committed, false when the cap is reached: at once where what is known
   * suffices. Rejects with `persistence_failed`.
   */
  claim(cap: number): false | Promise<boolean> {
    if (this.#countAt(this.#clock.now()) >= cap) return false;
    if (this.#waiting.length >= MAX_WAITING) throw new GatewayError('persistence_failed');
    return new Promise((resolve, reject) => {
      this.#waiting.push({ cap, resolve, reject });
      if (this.#running) return;
      this.#running = true;
      setImmediate(() => void this.#run());
    });
  }

  /** All claims of one turn share a commit. */
  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const claims = this.#waiting;
      this.#waiting = [];
      await this.#commit(claims).catch((cause: unknown) => {
        this.#known = false;
        const error = new GatewayError('persistence_failed', { cause });
        for (const { reject } of claims) reject(error);
      });
    }
    this.#running = false;
  }

  async #commit(claims: readonly Claim[]): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      if (!this.#known) await this.#read();
      const at = this.#clock.now();
      const before = this.#countAt(at);
      let count = 0;
      const answers = claims.map(({ cap }) => before + count < cap && ++count > 0);
      if (count === 0 || (await this.#append({ at, count }))) {
        for (const [index, { resolve }] of claims.entries()) resolve(answers[index] === true);
        return;
      }
      this.#known = false;
    }
    throw new StoreError('unavailable', 'other workers kept changing the same counter');
  }

  async #append({ at, count }: { at: number; count: number }): Promise<boolean> {
    const total = (this.#head?.value ?? 0) + count;
    const condition = this.#head ? { ifVersion: this.#head.version } : { ifAbsent: true as const };
    const head: Op = {
      type: 'put',
      key: this.#name,
      value: total,
      ttlMs: HEAD_TTL_MS,
      ...condition,
    };
    const key = [...this.#name, total];
    const entry: Op = { type: 'put', key, value: [at, count], ttlMs: ENTRY_TTL_MS };
    const result = await this.#store.commit([head, entry]);
    if (!result.ok) return false;
    this.#head = { key: this.#name, value: total, version: result.version };
    this.#add({ at, count, total });
    return true;
  }

  /** Catches up with what others have accepted since. */
  async #read(): Promise<void> {
    const last = this.#accepted.at(-1)?.total;
    this.#head = await this.#store.get<number>(this.#name);
    const until = this.#head?.value ?? 0;
    const now = this.#clock.now();
    let after = last === undefined ? undefined : [...this.#name, last];
    for (;;) {
      const page = await this.#store.list<[at: number, count: number]>({
        prefix: this.#name,
        limit: PAGE,
        ...(after ? { after } : {}),
      });
      for (const { key, value } of page) {
        const total = Number(key.at(-1));
        // A clock that runs ahead elsewhere must not hold places longer than the window.
        if (total <= until) this.#add({ at: Math.min(value[0], now), count: value[1], total });
      }
      if (page.length < PAGE) break;
      after = page.at(-1)?.key.slice();
    }
    this.#known = true;
  }

  #add(accepted: Accepted): void {
    this.#accepted.push(accepted);
    this.#inWindow += accepted.count;
  }

  #countAt(now: number): number {
    let past = 0;
    for (const { at, count } of this.#accepted) {
      if (at > now - WINDOW_MS) break;
      this.#inWindow -= count;
      past++;
    }
    if (past > 0) this.#accepted.splice(0, past);
    return this.#inWindow;
  }
}
