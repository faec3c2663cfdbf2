import type { Clock, Timer } from '../core/time/clock.ts';
import type { Key, Store } from '../store/store.ts';
import { toChangeOps } from './job-rows.ts';
import type { JobRow } from './job-rows.ts';
import type { Liveness, ProcessPlace } from '../core/liveness.ts';

export interface MembershipOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Beginning of the owners of jobs, before their `-`. */
  readonly worker: string;
  readonly liveness: Liveness;
  /** Receives errors of a store that fails. */
  readonly report: (error: unknown) => void;
}

const LOOK_MS = 1_000;
const PAGE = 500;
const MEMBERS: Key = ['job-worker'];
const JOBS: Key = ['job'];

/**
 * The processes that take jobs. Once a second each looks for those that died on its own host, and their claimed
 * jobs fall due at once; of others, elsewhere, the leases run out.
 */
export class Membership {
  readonly #options: MembershipOptions;
  #timer: Timer | undefined;
  #looking: Promise<void>;
  #isClosed = false;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#looking = this.#turn(() => this.#enter());
  }

  /** Stops looking. `isDone`: nothing is left that others would have to take over. */
  async close({ isDone }: { isDone: boolean }): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#looking;
    const { store, worker, report } = this.#options;
    if (isDone) await store.commit([{ type: 'delete', key: [...MEMBERS, worker] }]).catch(report);
  }

  async #turn(first?: () => Promise<unknown>): Promise<void> {
    try {
      await first?.();
      await this.#look();
    } catch (error) {
      this.#options.report(error);
    }
    if (this.#isClosed) return;
    this.#timer = this.#options.clock.setTimeout(() => {
      this.#looking = this.#turn();
    }, LOOK_MS);
  }

  #enter(): Promise<unknown> {
    const { store, worker, liveness } = this.#options;
    return store.commit([{ type: 'put', key: [...MEMBERS, worker], value: liveness.own }]);
  }

  async #look(): Promise<void> {
    const { store, liveness } = this.#options;
    for (const { key, value } of await store.list<ProcessPlace>({ prefix: MEMBERS, limit: PAGE })) {
      if (!liveness.isGone(value)) continue;
      await this.#release(String(key[1]));
      await store.commit([{ type: 'delete', key }]);
    }
  }

  /** Others may do the same at once: each job is changed by one of them. */
  async #release(worker: string): Promise<void> {
    const { store, clock } = this.#options;
    for (let after: Key | undefined; ;) {
      const page = await store.list<JobRow>({
        prefix: JOBS,
        limit: PAGE,
        ...(after && { after }),
      });
      for (const { key, value: row, version } of page) {
        if (row.owner?.slice(0, row.owner.lastIndexOf('-')) !== worker) continue;
        const job = { kind: String(key[1]), id: String(key[2]), row, version };
        await store.commit(toChangeOps(job, { ...row, owner: null, at: clock.now() }));
      }
      after = page.at(-1)?.key;
      if (page.length < PAGE) return;
    }
  }
}
