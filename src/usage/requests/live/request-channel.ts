import { Buffer } from 'node:buffer';
import type { Clock, Timer } from '../../../core/time/clock.ts';
import { matches, matchesStart } from '../request-log.ts';
import type { RequestFilter } from '../request-log.ts';
import type { RequestChange, RequestView } from './request-change.ts';
import type { RequestFeed } from './request-feed.ts';
import { marksOf, writeCursor } from './stream-cursor.ts';
import type { ToldMark } from './stream-cursor.ts';

/** Rows of one beat, as all streams with the same filter get them. */
export interface ChannelFrame {
  readonly changes: readonly RequestChange[];
  readonly cursor: string;
  readonly bytes: Buffer;
}

/** Receives the frames of a channel. */
export interface Subscriber {
  /** Undefined for a beat with more rows than one frame may hold. */
  take(frame: ChannelFrame | undefined): void;
}

export interface ChannelOptions {
  readonly feed: RequestFeed;
  readonly clock: Clock;
  readonly filter: RequestFilter;
  readonly view: RequestView;
}

/** Rows in one frame. */
export const MAX_ROWS = 5_000;
/** Milliseconds of silence, after which only the cursor is sent: the next catch-up is short then. */
const IDLE_MS = 10_000;

/** True where a filter lets a request through, whatever has become of it so far. */
export function concerns(change: RequestChange, filter: RequestFilter): boolean {
  const { from, to } = filter;
  if (from !== undefined && change.at < from) return false;
  if (to !== undefined && change.at >= to) return false;
  return matchesStart(change.start, filter);
}

/** Part of all changes that one filter lets through: picked and written once for all who follow it. */
export class RequestChannel {
  readonly #options: ChannelOptions;
  readonly #subscribers = new Set<Subscriber>();
  readonly #open = new Set<string>();
  #told: ToldMark[] = [];
  #leave: Promise<() => void> | undefined;
  #idle: Timer | undefined;

  constructor(options: ChannelOptions) {
    this.#options = options;
  }

  /** Resolves when every later change is sent. Rejects with `StoreError`. */
  async join(subscriber: Subscriber): Promise<void> {
    this.#subscribers.add(subscriber);
    try {
      await (this.#leave ??= this.#listen());
    } catch (error) {
      this.#leave = undefined;
      this.leave(subscriber);
      throw error;
    }
  }

  leave(subscriber: Subscriber): void {
    if (!this.#subscribers.delete(subscriber) || this.#subscribers.size > 0) return;
    this.#idle?.cancel();
    const leaving = this.#leave;
    this.#leave = undefined;
    this.#open.clear();
    this.#told = [];
    void leaving?.then((leave) => leave());
  }

  get isUsed(): boolean {
    return this.#subscribers.size > 0;
  }

  /** Notes what a subscriber got out of the store, so that cursors name it. */
  learn(marks: readonly ToldMark[]): void {
    const now = this.#options.clock.now();
    this.#told = [...this.#told, ...marks].filter(({ until }) => until >= now);
  }

  /** Cursor of this instant for a stream that has everything. */
  cursor(at: number): string {
    return writeCursor({ at, open: this.#open, told: this.#told });
  }

  async #listen(): Promise<() => void> {
    const { feed, filter } = this.#options;
    const leave = await feed.listen((changes) => this.#take(changes));
    for (const change of feed.inFlight()) if (concerns(change, filter)) this.#open.add(change.id);
    this.#waitIdle();
    return leave;
  }

  #take(changes: readonly RequestChange[]): void {
    const rows = changes.filter((change) => this.#lets(change));
    if (rows.length > MAX_ROWS) {
      for (const subscriber of this.#subscribers) subscriber.take(undefined);
    } else if (rows.length > 0) this.#send(rows);
  }

  #lets(change: RequestChange): boolean {
    const { filter } = this.#options;
    if (!concerns(change, filter)) return false;
    const { id, end } = change;
    if (!end) this.#open.add(id);
    const wasOpen = end !== undefined && this.#open.delete(id);
    // A row that was shown as pending is sent once more.
    return matches(change, filter) || (filter.status === 'pending' && wasOpen);
  }

  #send(changes: readonly RequestChange[]): void {
    const { clock, view } = this.#options;
    const at = clock.now();
    this.learn(marksOf(changes));
    const cursor = this.cursor(at);
    const frame = { changes, cursor, bytes: toFrame(changes, cursor, view) };
    for (const subscriber of this.#subscribers) subscriber.take(frame);
    this.#waitIdle();
  }

  #waitIdle(): void {
    this.#idle?.cancel();
    this.#idle = this.#options.clock.setTimeout(() => this.#send([]), IDLE_MS);
  }
}

/** Bytes of an event; without rows only the cursor, which clients keep without an event. */
export function toFrame(
  changes: readonly RequestChange[],
  cursor: string,
  view: RequestView,
): Buffer {
  if (changes.length === 0) return Buffer.from(`id: ${cursor}\n\n`);
  const rows = changes.map((change) => change.text(view)).join(',');
  return Buffer.from(`event: requests\nid: ${cursor}\ndata: [${rows}]\n\n`);
}
