import type { Clock, Timer } from '../../../core/time/clock.ts';
import { idTime } from '../../../core/ids.ts';
import type { Store } from '../../../store/store.ts';
import { REQUESTS, requestKey } from '../../ledger/ledger-keys.ts';
import { listStarts } from '../../ledger/flights.ts';
import { readRows } from '../../ledger/read-rows.ts';
import { toEndRow, toStartRow } from '../request-row.ts';
import type { EndRow, StartRow } from '../request-row.ts';
import { firstKeyAt } from '../request-log.ts';
import { RequestChange } from './request-change.ts';
import type { RequestSignals } from './request-signals.ts';
import { LATE_MS } from './stream-cursor.ts';

export interface RequestFeedDeps {
  readonly store: Pick<Store, 'get' | 'list'>;
  readonly clock: Clock;
  readonly signals: RequestSignals;
  /** Milliseconds within which a request body must arrive: so old may an id be that is new to all. */
  readonly requestTimeoutMs: number;
  /** What others did could not be read; it is tried again. */
  onFollowError(error: unknown): void;
}

/** Receives the changes of one beat, at most ten times a second, in the order of their ids. */
export type FeedListener = (changes: readonly RequestChange[]) => void;

/** Milliseconds between two beats. */
const BEAT_MS = 100;
const LOOK_MS = 1_000;
/** One look in so many goes back as far as a body may take. */
const DEEP = 10;
const NEAR_MS = 3_000;
/** Requests of other processes that one look asks for by their ids. */
const MAX_ASKED = 200;

/**
 * Changes of all requests on a store while somebody listens: those of this process as they happen,
 * those of others by a look at the store each second. Nothing is done, or kept, without a listener.
 */
export class RequestFeed {
  readonly #deps: RequestFeedDeps;
  readonly #listeners = new Set<FeedListener>();
  /** In flight, the oldest first as they became known. */
  readonly #open = new Map<string, StartRow>();
  /** Those of {@link #open} whose end this process sees itself. */
  readonly #own = new Set<string>();
  /** Ended ones that a look may meet again. */
  readonly #ended = new Set<string>();
  #changes = new Map<string, RequestChange>();
  #beat: Timer | undefined;
  #look: Timer | undefined;
  #looks = 0;
  #openedAt = 0;
  #opening: Promise<void> | undefined;

  constructor(deps: RequestFeedDeps) {
    this.#deps = deps;
  }

  /** Resolves when every later change is told. Rejects with `StoreError`. */
  async listen(listener: FeedListener): Promise<() => void> {
    this.#listeners.add(listener);
    const leave = (): void => {
      if (this.#listeners.delete(listener) && this.#listeners.size === 0) this.#close();
    };
    try {
      await (this.#opening ??= this.#start());
    } catch (error) {
      this.#opening = undefined;
      leave();
      throw error;
    }
    return leave;
  }

  /** Requests in flight, as far as they are known. */
  inFlight(): RequestChange[] {
    return Array.from(this.#open, ([id, start]) => new RequestChange(id, start));
  }

  async #start(): Promise<void> {
    const { clock, signals } = this.#deps;
    this.#openedAt = clock.now();
    signals.listener = {
      begun: (start) => {
        if (this.#ended.has(start.id)) return;
        this.#own.add(start.id);
        this.#note(new RequestChange(start.id, toStartRow(start)));
      },
      ended: (start, outcome) => {
        const row = toStartRow(start);
        this.#note(new RequestChange(start.id, row, toEndRow(row, outcome, false)));
      },
    };
    await this.#read(this.#deepMs);
    // What was there before is no change.
    this.#changes.clear();
    this.#wait();
  }

  #close(): void {
    this.#deps.signals.listener = undefined;
    for (const timer of [this.#beat, this.#look]) timer?.cancel();
    [this.#beat, this.#look, this.#opening] = [undefined, undefined, undefined];
    for (const kept of [this.#open, this.#own, this.#ended, this.#changes]) kept.clear();
  }

  get #deepMs(): number {
    return this.#deps.requestTimeoutMs + NEAR_MS;
  }

  #note(change: RequestChange): void {
    const { id, start, end } = change;
    if (this.#ended.has(id)) return;
    if (end) {
      this.#ended.add(id);
      this.#open.delete(id);
      this.#own.delete(id);
    } else if (this.#open.has(id)) return;
    else this.#open.set(id, start);
    this.#changes.set(id, change);
    this.#beat ??= this.#deps.clock.setTimeout(() => this.#tell(), BEAT_MS);
  }

  #tell(): void {
    this.#beat = undefined;
    const changes = [...this.#changes.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    this.#changes = new Map();
    if (changes.length > 0) for (const listener of this.#listeners) listener(changes);
  }

  #wait(): void {
    const { clock, onFollowError } = this.#deps;
    this.#look = clock.setTimeout(() => {
      const isDeep = ++this.#looks % DEEP === 0;
      this.#read(isDeep ? this.#deepMs : NEAR_MS)
        .catch(onFollowError)
        .finally(() => {
          if (this.#listeners.size > 0) this.#wait();
        });
    }, LOOK_MS);
  }

  /** Looks for what began or ended without a signal: in other processes, or by their recovery. */
  async #read(ms: number): Promise<void> {
    const { store, clock } = this.#deps;
    const from = clock.now() - ms;
    // Before the ends: a call that ends meanwhile is then seen twice instead of never.
    const starts = await listStarts(store);
    for await (const { key, value } of readRows<EndRow>(store, REQUESTS, {
      after: firstKeyAt(from),
    })) {
      if (this.#listeners.size === 0) return;
      this.#note(new RequestChange(String(key[1]), value[0], value));
    }
    for (const [id, start] of starts) this.#note(new RequestChange(id, start));
    await this.#askOld(from, starts);
    for (const id of this.#ended)
      if ((idTime(id) ?? 0) < from - this.#deepMs && !starts.has(id)) this.#ended.delete(id);
  }

  /** Asks for those in flight elsewhere that the look does not reach. */
  async #askOld(from: number, starts: ReadonlyMap<string, StartRow>): Promise<void> {
    const old = [...this.#open].filter(([id]) => !this.#own.has(id) && (idTime(id) ?? 0) < from);
    const asked = old.slice(0, MAX_ASKED);
    const ends = await Promise.all(
      asked.map(async ([id]) => this.#deps.store.get<EndRow>(requestKey(id))),
    );
    for (const [index, [id, start]] of asked.entries()) {
      const end = ends[index]?.value;
      this.#open.delete(id);
      if (!end) {
        // The next ones come first the next time; what is nowhere is gone.
        if (starts.has(id)) this.#open.set(id, start);
        continue;
      }
      const change = new RequestChange(id, start, end);
      // Its flight was only not over yet.
      if (change.endedAt < this.#openedAt - LATE_MS) this.#ended.add(id);
      else this.#note(change);
    }
  }
}
