import type { Clock } from '../core/time/clock.ts';
import type { SteadyClock } from '../core/time/steady-clock.ts';
import type { Key, Store } from '../store/store.ts';
import { correctDue, isDueAhead } from './correct-due.ts';
import { duePrefix, fromDueEntry, fromHeldKey, heldPrefix } from './job-rows.ts';
import type { DueJob } from './job-rows.ts';

/** Jobs that one look takes into account; the next look sees the rest. */
const PAGE = 64;
/** Holders that one look asks, and jobs of each. */
const MAX_HOLDERS = 64;
const MAX_OF_EACH = 16;

export interface DueLook {
  /** Due, in order; those of one holder first where there are more than a page. */
  readonly due: readonly DueJob[];
  /** Instant at which the next one after these falls due; undefined when none of the page does. */
  readonly nextAt: number | undefined;
  /** True when all jobs of the kind were seen. */
  readonly isAll: boolean;
}

export interface DueJobsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly steady: Pick<SteadyClock, 'setBacks'>;
  readonly kind: string;
}

/** Finds the due jobs of one kind without a scan of all waiting ones. */
export class DueJobs {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #steady: Pick<SteadyClock, 'setBacks'>;
  readonly #kind: string;
  /** Set-backs of the clock that jobs were corrected for. */
  #corrected = -1;
  /** Holder after which the next look continues. */
  #after: string | undefined;

  constructor({ store, clock, steady, kind }: DueJobsOptions) {
    this.#store = store;
    this.#clock = clock;
    this.#steady = steady;
    this.#kind = kind;
  }

  async look(): Promise<DueLook> {
    await this.#correct();
    const now = this.#clock.now();
    // Mostly nothing is due, and all that a page would hold is under way.
    const [first] = await this.#page(1);
    if (!first || first.at > now) return { due: [], nextAt: first?.at, isAll: !first };
    const page = await this.#page(PAGE);
    const due = page.filter(({ at }) => at <= now);
    const nextAt = page.find(({ at }) => at > now)?.at;
    if (due.length < PAGE) return { due, nextAt, isAll: page.length < PAGE };
    // One holder's jobs may fill the page: others are found in the index by holder.
    return { due: unique([...due, ...(await this.#dueOfEach())]), nextAt, isAll: false };
  }

  async #page(limit: number): Promise<DueJob[]> {
    const page = await this.#store.list<string | null>({ prefix: duePrefix(this.#kind), limit });
    return page.map(fromDueEntry);
  }

  /** Gives jobs that a clock that was ahead put off their own time: at first, and after each set-back. */
  async #correct(): Promise<void> {
    const setBacks = this.#steady.setBacks();
    if (setBacks === this.#corrected) return;
    const options = { store: this.#store, kind: this.#kind, now: this.#clock.now() };
    // Those that wait may be many, and at the start their times are seldom wrong.
    if (this.#corrected >= 0 || (await isDueAhead(options))) await correctDue(options);
    this.#corrected = setBacks;
  }

  /** The first jobs of so many holders, going round over all of them. */
  async #dueOfEach(): Promise<DueJob[]> {
    const found: DueJob[] = [];
    const first = this.#after;
    for (let seen = 0; seen < MAX_HOLDERS; seen++) {
      const holder = await this.#nextHolder();
      if (holder === undefined || (seen > 0 && holder === first)) break;
      const options = { prefix: heldPrefix(this.#kind, holder), limit: MAX_OF_EACH };
      const now = this.#clock.now();
      const jobs = (await this.#store.list(options)).map(({ key }) => fromHeldKey(key));
      found.push(...jobs.filter(({ at }) => at <= now));
    }
    return found;
  }

  /** Steps over all jobs of a holder at once; begins again after the last holder. */
  async #nextHolder(): Promise<string | undefined> {
    const prefix = heldPrefix(this.#kind);
    const isFirst = this.#after === undefined;
    const after: Key | undefined =
      this.#after === undefined
        ? undefined
        : [...heldPrefix(this.#kind, this.#after), Number.MAX_SAFE_INTEGER];
    const [entry] = await this.#store.list({ prefix, limit: 1, ...(after && { after }) });
    this.#after = entry && fromHeldKey(entry.key).holder;
    return entry || isFirst ? this.#after : this.#nextHolder();
  }
}

function unique(jobs: readonly DueJob[]): DueJob[] {
  return [...new Map(jobs.map((job) => [job.id, job])).values()];
}
