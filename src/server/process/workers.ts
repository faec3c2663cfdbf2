import cluster from 'node:cluster';
import type { Address, Worker } from 'node:cluster';
import type { Log } from '../../core/log.ts';
import { BACKENDS } from '../../store/backends/registry.ts';
import type { Store, StoreScope } from '../../store/store.ts';
import { reasonOf } from '../../core/errors.ts';
import {
  offerSettings,
  prepareForks,
  tellReload,
  tellToRenew,
  watchBeats,
} from './worker-channel.ts';
import { toSettingsMessage } from './worker-settings.ts';
import type { SentSettings } from './worker-settings.ts';

const RESPAWN_MS = 1_000;

export interface WorkersOptions {
  readonly log: Log;
  onListening(url: string): Promise<void>;
  /** Runs for every worker before its first message. */
  onFork?(worker: Worker): void;
}

/** Several processes that serve one address. */
export interface Workers {
  /** Starts them, and a new one for each that dies; gives the exit code once all have ended. */
  run(): Promise<number>;
  /**
   * Replaces them one by one, each new one listening before a former one drains. Rejects with `Error`
   * when a new one does not come to listen; then the former ones continue, with their settings.
   */
  replace(settings: SentSettings): Promise<void>;
  /** Has every worker read the files of its certificate again. */
  renew(): void;
  /** Has every worker, also those that come later, say why the last reload was refused, or null. */
  tellReload(error: string | null): void;
}

/** @throws Error when the store does not allow several processes (requirement store.scope-refusal) */
export function checkScope({ scope, driver }: Pick<Store, 'scope' | 'driver'>): void {
  if (scope !== 'process') return;
  throw new Error(
    `the ${driver} store belongs to one process; use server.store.driver ${driversAt('host')} (several workers on one machine), ${driversAt('cluster')} (several machines), or workers: 1`,
  );
}

function driversAt(scope: StoreScope): string {
  const found = BACKENDS.filter((backend) => backend.scope === scope);
  return found.flatMap(({ drivers }) => drivers).join(' or ');
}

export function createWorkers(first: SentSettings, options: WorkersOptions): Workers {
  return new WorkerCrew(first, options);
}

class WorkerCrew implements Workers {
  readonly #options: WorkersOptions;
  readonly #host: string;
  readonly #scheme: 'http' | 'https';
  #count: number;
  readonly #first: SentSettings;
  /** Message that new workers get. */
  #settings = '';
  /** Workers that are to serve; one that drains is no member any more. */
  readonly #serving = new Set<Worker>();
  readonly #all = new Set<Worker>();
  #announced = false;
  #stopping = false;
  #reloadError: string | null = null;

  constructor(settings: SentSettings, options: WorkersOptions) {
    const { server } = settings;
    this.#options = options;
    this.#host = server.listen.host;
    this.#scheme = server.listen.tls ? 'https' : 'http';
    this.#count = server.workers;
    this.#first = settings;
  }

  async run(): Promise<number> {
    prepareForks();
    this.#settings = await toSettingsMessage(this.#first);
    this.#spawn();
    await this.#untilAllEnded();
    return this.#announced ? 0 : 1;
  }

  async replace(settings: SentSettings): Promise<void> {
    const next = await toSettingsMessage(settings);
    const [before, count, former] = [this.#settings, this.#count, [...this.#serving]];
    this.#settings = next;
    this.#count = settings.server.workers;
    for (const [index, worker] of former.entries()) {
      if (this.#stopping) return;
      // The first new one shows that they can serve before a former one ends.
      const isNeeded = index === 0 || this.#serving.size <= this.#count;
      if (isNeeded && !(await isListening(this.#spawn()))) {
        if (this.#stopping) return;
        this.#settings = before;
        this.#count = count;
        this.#fill();
        throw new Error('a new worker did not come to listen');
      }
      await this.#retire(worker);
    }
    this.#fill();
  }

  renew(): void {
    for (const worker of this.#all) tellToRenew(worker);
  }

  tellReload(error: string | null): void {
    this.#reloadError = error;
    for (const worker of this.#all) tellReload(worker, error);
  }

  #spawn(): Worker {
    const { log, onFork } = this.#options;
    const worker = cluster.fork();
    onFork?.(worker);
    this.#serving.add(worker);
    this.#all.add(worker);
    worker.on('error', (error) => {
      log.error('a worker cannot be reached', { worker: worker.id, reason: reasonOf(error) });
      // One that could not be forked emits no exit.
      if (worker.process.pid === undefined) this.#forget(worker);
    });
    offerSettings(worker, {
      settings: this.#settings,
      reloadError: () => this.#reloadError,
    });
    worker.on('listening', (address) => this.#announce(address));
    watchBeats(worker, () => {
      log.error('a worker does not answer and is ended', { worker: worker.id });
      worker.process.kill('SIGKILL');
    });
    worker.on('exit', (code, signal) => {
      if (this.#forget(worker)) log.error('a worker ended', { worker: worker.id, code, signal });
    });
    return worker;
  }

  /** Makes up for one that is gone; true when that was not meant to be. */
  #forget(worker: Worker): boolean {
    this.#all.delete(worker);
    if (!this.#serving.delete(worker) || this.#stopping) return false;
    // One that never got to listen would only fail again. Without any worker nothing but this
    // timer keeps the process alive, so it is none of the clock's.
    if (this.#announced) setTimeout(() => this.#fill(), RESPAWN_MS);
    return true;
  }

  #fill(): void {
    if (this.#stopping) return;
    while (this.#serving.size < this.#count) this.#spawn();
  }

  /** Resolves when it has drained. */
  async #retire(worker: Worker): Promise<void> {
    if (!this.#serving.delete(worker)) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.process.kill('SIGTERM');
    await ended;
  }

  #announce({ address, port }: Address): void {
    if (this.#announced) return;
    this.#announced = true;
    const { log, onListening } = this.#options;
    const url = `${this.#scheme}://${nameOf(address ?? this.#host)}:${port}`;
    onListening(url).catch((error: unknown) => {
      log.error('the address could not be written down', { reason: reasonOf(error) });
    });
    this.#fill();
  }

  #untilAllEnded(): Promise<void> {
    return new Promise((resolve) => {
      // Workers that die while the gateway serves are replaced.
      const check = (): void => {
        if (this.#all.size === 0 && (this.#stopping || !this.#announced)) resolve();
      };
      const stop = (signal: NodeJS.Signals): void => {
        if (this.#stopping && signal === 'SIGINT') process.exit(130);
        this.#stopping = true;
        for (const worker of this.#all) worker.process.kill('SIGTERM');
        check();
      };
      process.on('SIGTERM', stop);
      process.on('SIGINT', stop);
      cluster.on('exit', () => setImmediate(check));
    });
  }
}

/** False for one that ends before. */
function isListening(worker: Worker): Promise<boolean> {
  return new Promise((resolve) => {
    worker.once('listening', () => resolve(true));
    worker.once('exit', () => resolve(false));
  });
}

function nameOf(address: string): string {
  if (address === '0.0.0.0' || address === '::') return 'localhost';
  return address.includes(':') ? `[${address}]` : address;
}
