import { Buffer } from 'node:buffer';
import type { Clock } from '../../../core/time/clock.ts';
import type { RequestFilter } from '../request-log.ts';
import { readNewest, readSince } from './read-changes.ts';
import type { ReadChangesDeps } from './read-changes.ts';
import type { RequestChange, RequestView } from './request-change.ts';
import { toFrame } from './request-channel.ts';
import type { ChannelFrame, RequestChannel, Subscriber } from './request-channel.ts';
import { marksBehind, marksOf, readCursor } from './stream-cursor.ts';

/** Way to one client. */
export interface StreamSink {
  /** False: the client has no room; `onRoom` is called when it has. */
  write(bytes: Buffer): boolean;
  onRoom(listener: () => void): void;
  readonly signal: AbortSignal;
}

export interface RequestStreamOptions extends ReadChangesDeps {
  readonly channel: RequestChannel;
  readonly clock: Clock;
  readonly filter: RequestFilter;
  readonly view: RequestView;
  /** Rows that come first. */
  readonly limit: number;
  /** Cursor of the last event that the client saw. */
  readonly after: string | undefined;
  readonly sink: StreamSink;
}

const OPENED = Buffer.from('retry: 1000\n\n');
/** Frames that wait for a client; one that takes none of them catches up from its cursor later. */
const MAX_WAITING = 20;
/** Milliseconds for which frames may hold what the first rows held already. */
const OVERLAP_MS = 30_000;

/** Rows in place of those that a client has. */
type First = readonly [changes: readonly RequestChange[], cursor: string];

/**
 * Follows a channel for one client: the newest rows or the missed changes, then each change once. Resolves when
 * the client is gone. Rejects with `StoreError`.
 */
export async function followRequests(options: RequestStreamOptions): Promise<void> {
  const { channel, sink } = options;
  const stream = new RequestStream(options);
  const left = new Promise<void>((resolve) => {
    if (sink.signal.aborted) resolve();
    else sink.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  try {
    sink.write(OPENED);
    await channel.join(stream);
    await stream.begin();
    await Promise.race([left, stream.failed]);
  } finally {
    channel.leave(stream);
  }
}

class RequestStream implements Subscriber {
  readonly #options: RequestStreamOptions;
  readonly failed: Promise<never>;
  #fail!: (error: unknown) => void;
  /** Undefined: too many, so that a catch-up takes their place. */
  #waiting: ChannelFrame[] | undefined = [];
  /** False while frames must wait: rows are read, or the client has no room. */
  #isReady = false;
  #cursor: string | undefined;
  /** Rows that were sent from a reading, for a while; true for those that have ended. */
  #read: ReadonlyMap<string, boolean> = new Map();
  #readAt = 0;

  constructor(options: RequestStreamOptions) {
    this.#options = options;
    this.#cursor = options.after;
    this.failed = new Promise((_, reject) => (this.#fail = reject));
    this.failed.catch(() => undefined);
    options.sink.onRoom(() => this.#goOn());
  }

  take(frame: ChannelFrame | undefined): void {
    const isFull = (this.#waiting?.length ?? 0) >= MAX_WAITING;
    if (frame === undefined || isFull) this.#waiting = undefined;
    else this.#waiting?.push(frame);
    if (this.#isReady) this.#flush();
  }

  /** Sends the first rows, or the missed changes. */
  async begin(): Promise<void> {
    this.#isReady = false;
    const isNew = this.#cursor === undefined;
    const missed = isNew ? undefined : await this.#missed();
    const [changes, cursor] = missed ?? (await this.#newest());
    const { sink, view, clock } = this.#options;
    if (!isNew && !missed) sink.write(RESET);
    this.#read = new Map(changes.map(({ id, end }) => [id, end !== undefined]));
    this.#readAt = clock.now();
    this.#cursor = cursor;
    const isEmpty = missed === undefined && changes.length === 0;
    const bytes = isEmpty ? emptyFrame(cursor) : toFrame(changes, cursor, view);
    this.#isReady = sink.write(bytes);
    if (this.#isReady) this.#flush();
  }

  #goOn(): void {
    if (this.#isReady || this.#cursor === undefined) return;
    this.#isReady = true;
    this.#flush();
  }

  #flush(): void {
    while (this.#isReady) {
      if (this.#waiting === undefined) {
        this.#waiting = [];
        this.begin().catch(this.#fail);
        return;
      }
      const frame = this.#waiting.shift();
      if (!frame) return;
      this.#isReady = this.#options.sink.write(this.#bytesOf(frame));
      this.#cursor = frame.cursor;
    }
  }

  /** Bytes of a frame; rows that a reading has sent in the same state are left out. */
  #bytesOf({ changes, cursor, bytes }: ChannelFrame): Buffer {
    const { clock, view } = this.#options;
    if (this.#read.size > 0 && clock.now() - this.#readAt > OVERLAP_MS) this.#read = new Map();
    if (this.#read.size === 0) return bytes;
    const fresh = changes.filter(({ id, end }) => {
      const hasEnded = this.#read.get(id);
      return hasEnded === undefined || (!hasEnded && end !== undefined);
    });
    return fresh.length === changes.length ? bytes : toFrame(fresh, cursor, view);
  }

  async #missed(): Promise<First | undefined> {
    const { clock, filter, channel } = this.#options;
    const cursor = readCursor(this.#cursor ?? '');
    const at = clock.now();
    const changes = cursor && (await readSince(this.#options, filter, cursor));
    if (!changes) return undefined;
    channel.learn([...marksBehind(cursor), ...marksOf(changes)]);
    return [changes, channel.cursor(at)];
  }

  async #newest(): Promise<First> {
    const { clock, filter, limit, channel } = this.#options;
    const at = clock.now();
    const changes = await readNewest(this.#options, filter, limit);
    channel.learn(marksOf(changes));
    return [changes, channel.cursor(at)];
  }
}

const RESET = Buffer.from(
  `event: reset\ndata: ${JSON.stringify({ reason: 'more has changed than can be told: the newest rows follow' })}\n\n`,
);

/** Says that there is nothing yet. */
function emptyFrame(cursor: string): Buffer {
  return Buffer.from(`event: requests\nid: ${cursor}\ndata: []\n\n`);
}
