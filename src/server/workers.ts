import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import type { AddressInfo } from 'node:net';
import type { ServerConfig } from '../config/server-config.ts';
import { systemClock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { Store } from '../store/store.ts';
import type { Gateway } from './open-gateway.ts';

const RESPAWN_MS = 1_000;

export interface WorkersOptions {
  log: Log;
  onListening(url: string): Promise<void>;
}

/** @throws Error when the store does not allow several processes (requirement store.scope-refusal) */
export function checkScope({ scope, driver }: Pick<Store, 'scope' | 'driver'>): void {
  if (scope !== 'process') return;
  throw new Error(
    `the ${driver} store belongs to one process; use server.store.driver lmdb (several workers on one machine), redis or postgres (several machines), or workers: 1`,
  );
}

/**
 * Serves one address with several processes. The first process keeps the store open to apply reloads,
 * starts a new worker for one that died, and passes stop signals on.
 */
export async function runWorkers(
  gateway: Gateway,
  config: ServerConfig,
  options: WorkersOptions,
): Promise<number> {
  let stopping = false;
  let announced = false;
  const workers = new Set<Worker>();

  const spawn = (): void => {
    const worker = cluster.fork();
    workers.add(worker);
    worker.on('listening', ({ address, port }: AddressInfo) => {
      if (announced) return;
      announced = true;
      void options.onListening(`http://${nameOf(address ?? config.listen.host)}:${port}`);
    });
    worker.on('exit', (code, signal) => {
      workers.delete(worker);
      if (stopping) return;
      // A worker that never got to listen would only fail again.
      if (!announced) process.exitCode = 1;
      options.log.error('a worker ended', { worker: worker.id, code, signal });
      if (announced) systemClock.setTimeout(spawn, RESPAWN_MS);
    });
  };
  for (let i = 0; i < config.workers; i++) spawn();
  await untilAllEnded(workers, {
    onStop: () => {
      stopping = true;
    },
    // Workers that die while the gateway serves are replaced.
    isOver: () => stopping || !announced,
  });
  await gateway.close();
  return announced ? 0 : 1;
}

function nameOf(address: string): string {
  if (address === '0.0.0.0' || address === '::') return 'localhost';
  return address.includes(':') ? `[${address}]` : address;
}

function untilAllEnded(
  workers: ReadonlySet<Worker>,
  { onStop, isOver }: { onStop(): void; isOver(): boolean },
): Promise<void> {
  return new Promise((resolve) => {
    const check = (): void => {
      if (workers.size === 0 && isOver()) resolve();
    };
    let asked = false;
    const stop = (signal: NodeJS.Signals): void => {
      if (asked && signal === 'SIGINT') process.exit(130);
      asked = true;
      onStop();
      for (const worker of workers) worker.process.kill('SIGTERM');
      check();
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
    cluster.on('exit', () => setImmediate(check));
  });
}
