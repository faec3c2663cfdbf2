import type { Timer } from '../../core/time/clock.ts';
import { toOrigin } from './connect-socket.ts';
import { OriginPool } from './origin-pool.ts';
import type { OriginPoolSettings } from './origin-pool.ts';
import type { Reach } from './reach.ts';

/** Longest delay until an unused connection is closed. */
const SWEEP_MS = 1000;

export interface OriginPoolsSettings extends Omit<OriginPoolSettings, 'reach'> {
  /** Origins whose connections are kept; beyond it the longest unused one is closed. */
  maxPools: number;
}

/** Connection pools by origin and the way to reach it. */
export class OriginPools {
  readonly #settings: OriginPoolsSettings;
  readonly #pools = new Map<string, OriginPool>();
  #uses = 0;
  #sweeper: Timer | undefined;
  #closed = false;

  constructor(settings: OriginPoolsSettings) {
    this.#settings = settings;
  }

  /** Throws `TypeError` when the scheme is neither http nor https, and after `close`. */
  poolFor(url: URL, reach: Reach): OriginPool {
    if (this.#closed) throw new TypeError('the transport is closed');
    const key = url.origin + reach.key;
    const pool = this.#pools.get(key) ?? this.#create(key, url, reach);
    pool.lastUse = ++this.#uses;
    return pool;
  }

  /** Destroys all sockets, busy ones too. */
  close(): void {
    this.#closed = true;
    this.#sweeper?.cancel();
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    for (const pool of pools) pool.destroy();
  }

  #create(key: string, url: URL, reach: Reach): OriginPool {
    const pool = new OriginPool(toOrigin(url), { ...this.#settings, reach });
    this.#letGo(this.#settings.maxPools - 1);
    this.#pools.set(key, pool);
    this.#sweeper ??= this.#sweepLater();
    return pool;
  }

  #sweepLater(): Timer {
    return this.#settings.clock.setTimeout(() => this.#sweep(), SWEEP_MS);
  }

  #sweep(): void {
    const now = this.#settings.clock.monotonic();
    for (const [key, pool] of this.#pools) {
      pool.sweep(now);
      if (pool.isEmpty) this.#pools.delete(key);
    }
    this.#letGo(this.#settings.maxPools);
    this.#sweeper = this.#pools.size > 0 ? this.#sweepLater() : undefined;
  }

  /** The longest unused first. Busy origins stay, even when there are more of them. */
  #letGo(allowed: number): void {
    if (this.#pools.size <= allowed) return;
    const unused = [...this.#pools]
      .filter(([, pool]) => pool.isUnused)
      .sort(([, one], [, other]) => one.lastUse - other.lastUse);
    for (const [key, pool] of unused.slice(0, this.#pools.size - allowed)) {
      this.#pools.delete(key);
      pool.destroy();
    }
  }
}
