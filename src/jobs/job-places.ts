import { FairQueue } from '../core/fair-queue.ts';
import type { DueJob } from './job-rows.ts';

/**
 * Room for the goes of a worker at once, shared out between the holders of its jobs (see {@link FairQueue}). Of
 * paused ones as many as there are slots do not count.
 */
export class JobPlaces {
  readonly #queue: FairQueue<DueJob>;
  /** Holders of what runs, by job. */
  readonly #running = new Map<string, string>();
  readonly #paused = new Set<string>();
  /** Paused jobs that released their slot. */
  readonly #resting = new Set<string>();

  constructor(places: number) {
    this.#queue = new FairQueue({ places });
  }

  /** Free slots, for any holder. */
  get room(): number {
    return Math.max(0, this.#queue.places - this.#queue.used);
  }

  /** Takes places for the jobs that get one, each of which is to be given back by `end`. */
  admit(due: readonly DueJob[]): DueJob[] {
    const waiters = due.map((job) => this.#queue.wait(holderOf(job), job));
    const admitted: DueJob[] = [];
    for (let next = this.#queue.next(); next; next = this.#queue.next()) {
      this.#running.set(next.item.id, next.holder);
      admitted.push(next.item);
    }
    // The store keeps them; the next look sees them again.
    for (const waiter of waiters) if (waiter) this.#queue.abandon(waiter);
    return admitted;
  }

  has(id: string): boolean {
    return this.#running.has(id);
  }

  /** Takes a slot for one job at once, if there is one for its holder. */
  enter(job: DueJob): boolean {
    const holder = holderOf(job);
    if (this.#running.has(job.id) || !this.#queue.enter(holder)) return false;
    this.#running.set(job.id, holder);
    return true;
  }

  end(id: string): void {
    const holder = this.#running.get(id);
    if (holder === undefined) return;
    this.#running.delete(id);
    this.#paused.delete(id);
    if (this.#resting.delete(id)) this.#letRest();
    else this.#queue.release(holder);
  }

  pause(id: string, isPaused: boolean): void {
    const holder = this.#running.get(id);
    if (holder === undefined) return;
    if (isPaused) this.#paused.add(id);
    else {
      this.#paused.delete(id);
      if (this.#resting.delete(id)) this.#queue.occupy(holder);
    }
    this.#letRest();
  }

  #letRest(): void {
    for (const id of this.#paused) {
      if (this.#resting.size >= this.#queue.places) return;
      if (this.#resting.has(id)) continue;
      this.#resting.add(id);
      this.#queue.release(this.#running.get(id) ?? id);
    }
  }
}

/** A job without a holder shares with none. */
function holderOf({ holder, id }: DueJob): string {
  return holder === undefined ? `job:${id}` : `holder:${holder}`;
}
