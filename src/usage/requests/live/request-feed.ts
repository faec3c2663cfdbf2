import type { Clock, Timer } from '../../../core/time/clock.ts';
import { idTime } from '../../../core/ids.ts';
import type { Store } from '../../../store/store.ts';
import { REQUESTS, requestKey } from '../../ledger/ledger-keys.ts';
import { listStarts } from '../../ledger/flights.ts';
import { readRows } from '../../ledger/read-rows.ts';
import { toEndRow, toStartRow } from '../request-row.ts';
import type { EndRow, StartRow } from '../request-row.ts';
import { firstKeyAt } from '../request-log.ts';
import { lookSpans, NEAR_MS } from './look-spans.ts';
import type { LookSpan } from './look-spans.ts';
import { RequestChange } from './request-change.ts';
import type { RequestSignals } from './request-signals.ts';
import { LATE_MS } from './stream-cursor.ts';

export interface RequestFeedDeps {
  readonly store: Pick<Store, 'get' | 'list'>;
  readonly clock: Clock;
  readonly signals: RequestSignals;
  /** Milliseconds within which a request body must arrive: so old may an id be that is new to all. */
  readonly requestTimeoutMs: number;
  /**
   * Mark that stays the same while only this process changes requests, and all its changes are signalled;
   * undefined while others may. A mark that was given up never comes back.
   */
  alone(): string | undefined;
  /** Resolves when the store shows all that has ended here before. */
  fold(): Promise<unknown>;
  /** Callback when the records of others could not be read; it is tried again. */
  onFollowError(error: unknown): void;
}

interface Asked {
  /** Milliseconds since epoch before which the ids lie. */
  readonly from: number;
  readonly starts: ReadonlyMap<string, StartRow>;
  readonly most: number;
}

/** Receives the changes of one beat, at most ten times a second, in the order of their ids. */
export type FeedListener = (changes: readonly RequestChange[]) => void;

/** Milliseconds between two beats. */
const BEAT_MS = 100;
const LOOK_MS = 1_000;
/** One beat of looks in so many tidies up, where no look is needed. */
const TIDY = 10;
/** Rows of a span that are read at first; a list has no end but its length. */
const SPAN_ROWS = 250;
/** Requests of other processes that one look asks for by their ids. */
const MAX_ASKED = 200;

/**
 * Changes of all requests on a store while there is a listener: those of this process as they happen, those of
 * others, where there are any, by a look at the store each second. Nothing is done, or kept, without a
 * listener.
 */
export class RequestFeed {
  readonly #deps: RequestFeedDeps;
  readonly #listeners = new Set<FeedListener>();
  /** Requests in flight, in the order in which they became known. */
  readonly #open = new Map<string, StartRow>();
  /** Those of {@link #open} whose end this process sees itself. */
  readonly #own = new Set<string>();
  /** Ended ones that a look may meet again. */
  readonly #ended = new Set<string>();
  #changes = new Map<string, RequestChange>();
  #beat: Timer | undefined;
  #look: Timer | undefined;
  #looks = 0;
  /** Instant of the last look; undefined where the next one has to go back as far as a body may take. */
  #lookedAt: number | undefined;
  /** Answer of {@link RequestFeedDeps.alone} at that look. */
  #alone: string | undefined;
  #openedAt = 0;
  /** Instant (ms since epoch) from before which an unknown id has ended before the first listener. */
  #since = -Infinity;
  #opening: Promise<void> | undefined;
  /** Changes whenever the last listener leaves: looks under way then are discarded. */
  #run: object | undefined;

  constructor(deps: RequestFeedDeps) {
    this.#deps = deps;
  }

  /** Resolves when every later change is reported. Rejects with `StoreError`. */
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
    const run = (this.#run = {});
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
    this.#alone = this.#deps.alone();
    // No other process has begun a call so far, and later ends are signalled.
    this.#since = this.#alone === undefined ? -Infinity : this.#openedAt + 1;
    await this.#deps.fold();
    await this.#follow(run);
    if (this.#run !== run) return;
    // Rows that were there before are no change.
    this.#changes.clear();
    this.#wait(run);
  }

  #close(): void {
    this.#deps.signals.listener = undefined;
    for (const timer of [this.#beat, this.#look]) timer?.cancel();
    [this.#beat, this.#look, this.#opening] = [undefined, undefined, undefined];
    [this.#lookedAt, this.#alone, this.#run] = [undefined, undefined, undefined];
    this.#looks = 0;
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

  #wait(run: object): void {
    const { clock, onFollowError } = this.#deps;
    this.#look = clock.setTimeout(() => {
      this.#follow(run)
        .catch(onFollowError)
        .finally(() => {
          if (this.#run === run) this.#wait(run);
        });
    }, LOOK_MS);
  }

  /** Finds changes without a signal; there are none while no other process is on the store. */
  async #follow(run: object): Promise<void> {
    const alone = this.#deps.alone();
    const isAlone = alone !== undefined && alone === this.#alone;
    await (isAlone ? this.#tidy(run) : this.#read(run));
    if (this.#run === run) this.#alone = alone;
  }

  /** Reads those that were in flight before the first listener, and drops those that no look can meet. */
  async #tidy(run: object): Promise<void> {
    this.#lookedAt = undefined;
    const looks = this.#looks++;
    if (looks % TIDY !== 0) return;
    const { store, clock } = this.#deps;
    const now = clock.now();
    const starts = await listStarts(store);
    if (this.#run !== run) return;
    for (const [id, start] of starts) this.#note(new RequestChange(id, start));
    await this.#ask(run, { from: Infinity, starts, most: looks === 0 ? Infinity : MAX_ASKED });
    if (this.#run === run) this.#forget(now, starts);
  }

  /** Looks for what began or ended without a signal: in other processes, or by their recovery. */
  async #read(run: object): Promise<void> {
    const { store, clock } = this.#deps;
    const now = clock.now();
    const [lookedAt, deepMs] = [this.#lookedAt, this.#deepMs];
    const spans = lookSpans({ now, lookedAt, deepMs }).filter(({ to }) => to > this.#since);
    const reach = Math.max(spans[0]?.from ?? now, this.#since);
    // Reads them before the ends: a call that ends meanwhile is then seen twice instead of never.
    const starts = await listStarts(store);
    for (const span of spans) await this.#readSpan(run, span);
    if (this.#run !== run) return;
    for (const [id, start] of starts) this.#note(new RequestChange(id, start));
    await this.#ask(run, { from: reach, starts, most: MAX_ASKED });
    if (this.#run !== run) return;
    this.#forget(now, starts);
    this.#lookedAt = now;
  }

  async #readSpan(run: object, { from, to }: LookSpan): Promise<void> {
    const after = firstKeyAt(Math.max(from, this.#since));
    const range = { after, enough: to < Infinity ? SPAN_ROWS : undefined };
    const end = to < Infinity ? String(firstKeyAt(to)[1]) : undefined;
    for await (const { key, value } of readRows<EndRow>(this.#deps.store, REQUESTS, range)) {
      const id = String(key[1]);
      if (this.#run !== run || (end !== undefined && id >= end)) return;
      if (!this.#ended.has(id)) this.#note(new RequestChange(id, value[0], value));
    }
  }

  /** Those that ended first come first, so that only removed ones are walked over. */
  #forget(now: number, starts: ReadonlyMap<string, StartRow>): void {
    const before = now - 2 * this.#deepMs;
    for (const id of this.#ended) {
      if (starts.has(id)) continue;
      if ((idTime(id) ?? 0) >= before) return;
      this.#ended.delete(id);
    }
  }

  /** Asks for those in flight elsewhere, from before an instant, that a look does not reach. */
  async #ask(run: object, { from, starts, most }: Asked): Promise<void> {
    const old = [...this.#open].filter(([id]) => !this.#own.has(id) && (idTime(id) ?? 0) < from);
    const asked = old.slice(0, most);
    const ends = await Promise.all(
      asked.map(async ([id]) => this.#deps.store.get<EndRow>(requestKey(id))),
    );
    if (this.#run !== run) return;
    for (const [index, [id, start]] of asked.entries()) {
      const end = ends[index]?.value;
      // A signal was faster.
      if (this.#own.has(id) || this.#ended.has(id)) continue;
      this.#open.delete(id);
      if (!end) {
        // The next ones come first the next time; one without a row is gone.
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
