import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/**
 * What a network does: `refuse` new connections (those that stand go on), `drop` all and refuse,
 * `stall` (nothing passes until it is over, then everything does), `half-open` (the other side is gone
 * and nobody says so: what stood never hears anything again), `reset` (each answer breaks off in its
 * middle with a reset).
 */
export const CUTS = ['refuse', 'drop', 'stall', 'half-open', 'reset'] as const;
export type Cut = (typeof CUTS)[number];

/** The way of one gateway to its database. */
export interface CutProxy {
  readonly port: number;
  cut(how: Cut): void;
  /** All is well for connections made from now on. */
  mend(): void;
  close(): Promise<void>;
}

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  /** Half open for ever: swallows what is said. */
  isDeaf: boolean;
}

export async function openCutProxy(target: number): Promise<CutProxy> {
  const pairs = new Set<Pair>();
  let how: Cut | undefined;

  const join = (near: Socket): void => {
    if (how === 'refuse' || how === 'drop') {
      near.resetAndDestroy();
      return;
    }
    const far = connect(target, '127.0.0.1');
    const pair: Pair = { near, far, isDeaf: how === 'half-open' };
    pairs.add(pair);
    const part = (): void => {
      // Whoever is deaf does not hear that the other one left.
      if (pair.isDeaf && !near.destroyed) return;
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const socket of [near, far]) {
      socket.setNoDelay(true);
      socket.on('error', () => undefined).on('close', part);
      if (how === 'stall') socket.pause();
    }
    near.on('data', (bytes) => void (pair.isDeaf || far.write(bytes)));
    far.on('data', (bytes) => pass(pair, bytes, how));
    near.on('end', () => far.end());
    far.on('end', () => void (pair.isDeaf || near.end()));
  };

  const server = createServer({ allowHalfOpen: true }, join);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    cut(next) {
      how = next;
      for (const pair of pairs) {
        if (next === 'drop') pair.near.resetAndDestroy();
        if (next === 'half-open') pair.isDeaf = true;
        if (next === 'stall') for (const socket of [pair.near, pair.far]) socket.pause();
      }
    },
    mend() {
      how = undefined;
      for (const { near, far } of pairs) for (const socket of [near, far]) socket.resume();
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const { near, far } of pairs) for (const socket of [near, far]) socket.destroy();
      await closed;
    },
  };
}

function pass({ near, isDeaf }: Pair, bytes: Buffer, how: Cut | undefined): void {
  if (isDeaf) return;
  if (how !== 'reset') {
    near.write(bytes);
    return;
  }
  near.write(bytes.subarray(0, bytes.length >> 1), () => near.resetAndDestroy());
}
