import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import type { AddressInfo } from 'node:net';
import type { ServerConfig } from '../config/server-config.ts';
import type { Log } from '../core/log.ts';
import type { Store } from '../store/store.ts';
import { reasonOf } from './reason-of.ts';

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
 * Serves one address with several processes: starts a new worker for one that died, passes stop
 * signals on and gives the exit code.
 */
export async function runWorkers(config: ServerConfig, options: WorkersOptions): Promise<number> {
  let stopping = false;
  let announced = false;
  const workers = new Set<Worker>();

  const announce = ({ address, port }: AddressInfo): void => {
    if (announced) return;
    announced = true;
    const url = `http://${nameOf(address ?? config.listen.host)}:${port}`;
    options.onListening(url).catch((error: unknown) => {
      options.log.error('the address could not be written down', { reason: reasonOf(error) });
    });
    fill();
  };

  const spawn = (): void => {
    const worker = cluster.fork();
    workers.add(worker);
    worker.on('listening', announce);
    worker.on('exit', (code, signal) => {
      workers.delete(worker);
      if (stopping) return;
      options.log.error('a worker ended', { worker: worker.id, code, signal });
      // One that never got to listen would only fail again. Without any worker nothing but this
      // timer keeps the process alive, so it is none of the clock's.
      if (announced) setTimeout(fill, RESPAWN_MS);
    });
  };

  const fill = (): void => {
    if (stopping) return;
    for (let missing = config.workers - workers.size; missing > 0; missing--) spawn();
  };
  fill();
  await untilAllEnded(workers, {
    onStop: () => {
      stopping = true;
    },
    // Workers that die while the gateway serves are replaced.
    isOver: () => stopping || !announced,
  });
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
