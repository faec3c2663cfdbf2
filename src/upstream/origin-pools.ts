import { Pool } from 'undici';

export interface OriginPoolsOptions {
  /** Connections of one origin at most. */
  connections: number;
  connectTimeoutMs: number;
  /** How long an unused connection is kept when the server does not say. */
  keepAliveMs: number;
  /** Origins whose connections are kept; beyond it the longest unused one is let go. */
  maxPools: number;
}

/** The connections of one origin, and how many exchanges use them. */
export interface OriginPool {
  readonly origin: string;
  readonly pool: Pool;
  inFlight: number;
  lastUsed: number;
}

/** Connection pools by origin. */
export interface OriginPools {
  /** Throws `TypeError` or an undici error when the origin is not http or https. */
  acquire(origin: string): OriginPool;
  release(entry: OriginPool): void;
  /** Destroys all sockets, busy ones too; later calls of `acquire` throw. */
  close(): Promise<void>;
}

export function createOriginPools(options: OriginPoolsOptions): OriginPools {
  const pools = new Map<string, OriginPool>();
  let uses = 0;
  let closed = false;

  const letGo = (entry: OriginPool): void => {
    pools.delete(entry.origin);
    // Nothing is in flight on it, so there is nobody to tell that it could not be closed.
    entry.pool.destroy().catch(() => undefined);
  };

  const makeRoom = (): void => {
    if (pools.size < options.maxPools) return;
    let oldest: OriginPool | undefined;
    for (const entry of pools.values()) {
      if (entry.inFlight === 0 && (!oldest || entry.lastUsed < oldest.lastUsed)) oldest = entry;
    }
    if (oldest) letGo(oldest);
  };

  return {
    acquire(origin) {
      if (closed) throw new Error('the transport is closed');
      let entry = pools.get(origin);
      if (!entry) {
        const pool = createPool(origin, options);
        makeRoom();
        entry = { origin, pool, inFlight: 0, lastUsed: 0 };
        pools.set(origin, entry);
      }
      entry.inFlight += 1;
      entry.lastUsed = ++uses;
      return entry;
    },

    release(entry) {
      entry.inFlight -= 1;
      // More origins than allowed were busy at once; now one of them is not.
      if (entry.inFlight === 0 && pools.size > options.maxPools) letGo(entry);
    },

    async close() {
      closed = true;
      const all = [...pools.values()];
      pools.clear();
      await Promise.all(all.map((entry) => entry.pool.destroy()));
    },
  };
}

function createPool(origin: string, options: OriginPoolsOptions): Pool {
  return new Pool(origin, {
    connections: options.connections,
    pipelining: 1,
    connect: { timeout: options.connectTimeoutMs },
    keepAliveTimeout: options.keepAliveMs,
    // The caller's own timeouts rule: to first content, idle and total.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
