import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { Clock, Timer } from '../../../core/time/clock.ts';
import type { Watchers } from '../../watchers.ts';
import { PATIENCE } from './connection.ts';

/** Changes of a moment are notified together: a notification makes commits wait for each other. */
const GATHER_MS = 10;
/** The changes of a process that dies before its notification are found by polling. */
const LOOK_MS = 500;
const RECONNECT_MS = 1_000;
/** A connection that only listens does not notice a silent server, so it sends a query. */
const ASK_MS = 10_000;
/** A notification holds 8,000 bytes. */
const MAX_PAYLOAD = 7_000;
export const CHANNEL = 'store_changes';

export interface ChangesOptions {
  readonly settings: pg.ClientConfig;
  readonly schema: string;
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly watchers: Watchers;
}

/** Notifies the other processes of changes by this one, and its watchers of changes by others. */
export interface Changes {
  /** One commit, by the ids of its keys. */
  tell(ids: readonly string[]): void;
  close(): Promise<void>;
}

export async function openChanges(options: ChangesOptions): Promise<Changes> {
  const feed = new ChangeFeed(options);
  await feed.open();
  return feed;
}

class ChangeFeed implements Changes {
  readonly #options: ChangesOptions;
  readonly #channel: string;
  readonly #sender = randomBytes(6).toString('hex');
  #client: pg.Client | undefined;
  #gathered = new Set<string>();
  #telling: Timer | undefined;
  #looking: Timer | undefined;
  #asking: Timer | undefined;
  /** Commits that are gathered. */
  #count = 0;
  /** The last version when all commits up to it were known. */
  #base = 0;
  /** Commits after it, of this process and of others, that were notified. */
  #known = 0;
  /** Commits without a notification at the last look. */
  #missing = 0;
  #closed = false;

  constructor(options: ChangesOptions) {
    this.#options = options;
    this.#channel = `${options.schema}_${CHANNEL}`;
  }

  async open(): Promise<void> {
    await this.#listen();
    this.#base = await this.#lastVersion();
    this.#look();
    this.#ask();
  }

  tell(ids: readonly string[]): void {
    for (const id of ids) this.#gathered.add(id);
    this.#count++;
    this.#known++;
    this.#telling ??= this.#options.clock.setTimeout(() => void this.#notify(), GATHER_MS);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#looking?.cancel();
    this.#asking?.cancel();
    this.#telling?.cancel();
    await this.#notify();
    await this.#client?.end().catch(() => undefined);
  }

  async #notify(): Promise<void> {
    this.#telling = undefined;
    const ids = [...this.#gathered].map((id) => Buffer.from(id, 'latin1').toString('base64'));
    if (this.#count === 0) return;
    const head = `${this.#sender} ${this.#count}`;
    this.#gathered = new Set();
    this.#count = 0;
    const named = [head, ...ids].join(' ');
    const payload = named.length <= MAX_PAYLOAD ? named : `${head} *`;
    // Listeners that miss it find the change when they poll.
    await this.#options.pool
      .query({
        ...PATIENCE,
        text: 'select pg_notify($1, $2)',
        values: [this.#channel, payload],
      })
      .catch(() => undefined);
  }

  async #listen(): Promise<void> {
    const client = new pg.Client(this.#options.settings);
    client.on('error', () => undefined);
    client.on('notification', ({ payload = '' }) => this.#hear(payload));
    client.on('end', () => void this.#again());
    await client.connect();
    await client.query(`listen ${this.#channel}`);
    this.#client = client;
  }

  #hear(payload: string): void {
    const { watchers } = this.#options;
    const [sender, count, ...keys] = payload.split(' ');
    if (sender === this.#sender) return;
    this.#known += Number(count);
    if (keys.includes('*')) watchers.changedAnything();
    else for (const key of keys) watchers.changed(Buffer.from(key, 'base64').toString('latin1'));
  }

  async #again(): Promise<void> {
    if (this.#closed) return;
    await new Promise<void>((resolve) => {
      this.#options.clock.setTimeout(resolve, RECONNECT_MS);
    });
    if (this.#closed) return;
    // A client that cannot connect ends, and so comes here again.
    await this.#listen().catch(() => undefined);
    this.#options.watchers.changedAnything();
  }

  #ask(): void {
    if (this.#closed) return;
    this.#asking = this.#options.clock.setTimeout(() => {
      const client = this.#client;
      const asked = client?.query({ ...PATIENCE, text: 'select 1' }) ?? Promise.resolve();
      void asked
        // Its end is heard of, and another one is made.
        .catch(() => client?.end())
        .catch(() => undefined)
        .finally(() => this.#ask());
    }, ASK_MS);
  }

  #look(): void {
    if (this.#closed) return;
    this.#looking = this.#options.clock.setTimeout(() => {
      void this.#countMissing()
        .catch(() => undefined)
        .finally(() => this.#look());
    }, LOOK_MS);
  }

  /** Commits without a notification at the second look came from a process that died. */
  async #countMissing(): Promise<void> {
    const last = await this.#lastVersion();
    const missing = last - this.#base - this.#known;
    if (missing > 0 && this.#missing > 0) {
      this.#options.watchers.changedAnything();
      this.#base += Math.min(missing, this.#missing);
    }
    this.#missing = Math.max(0, last - this.#base - this.#known);
  }

  async #lastVersion(): Promise<number> {
    const { rows } = await this.#options.pool.query<{ last: string }>({
      ...PATIENCE,
      // The value of an unused sequence is that of the first call.
      text: 'select case when is_called then last_value else 0 end as last from versions',
    });
    return Number(rows[0]?.last ?? 0);
  }
}
