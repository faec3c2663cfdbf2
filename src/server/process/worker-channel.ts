import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { packageFile } from '../../core/package-root.ts';
import { fromSettingsMessage } from './worker-settings.ts';
import type { WorkerSettings } from './worker-settings.ts';

/** Between the first process and its workers, beside what Node.js itself sends. */
interface Message {
  readonly type: 'gateway:hello' | 'gateway:settings' | 'gateway:beat' | 'gateway:renew';
  readonly settings?: string;
}

const BEAT_MS = 2_000;
/** Longer than any work of the event loop and any pause of a machine under load takes. */
const MAX_SILENCE_MS = 30_000;

/** In the first process: what the worker is to serve with, when it asks. */
export function offerSettings(worker: Worker, settings: string): void {
  const answer: Message = { type: 'gateway:settings', settings };
  worker.on('message', (message: unknown) => {
    // One that is gone already tells so by its exit.
    if (typeOf(message) === 'gateway:hello') worker.send(answer, () => undefined);
  });
}

/** In a worker: what it is to serve with. It asks, since nothing waits for it till it listens. */
export function receiveSettings(): Promise<WorkerSettings> {
  return new Promise((resolve) => {
    const take = (message: unknown): void => {
      if (typeOf(message) !== 'gateway:settings') return;
      process.off('message', take);
      resolve(fromSettingsMessage((message as Message).settings ?? ''));
    };
    process.on('message', take);
    tellFirst('gateway:hello');
  });
}

/** In the first process: has a worker read the files of its certificate again. */
export function tellToRenew(worker: Worker): void {
  const message: Message = { type: 'gateway:renew' };
  if (worker.isConnected()) worker.send(message, () => undefined);
}

/** In a worker: calls the listener whenever it is told to renew; returns the function that stops it. */
export function onRenew(listener: () => void): () => void {
  const take = (message: unknown): void => {
    if (typeOf(message) === 'gateway:renew') listener();
  };
  process.on('message', take);
  return () => void process.off('message', take);
}

/** In a worker: tells the first process that its event loop turns. */
export function startBeating(): void {
  setInterval(() => tellFirst('gateway:beat'), BEAT_MS).unref();
}

/**
 * In the first process: calls `onStuck` once when a worker that has been heard of is not any more for
 * 30 seconds. Counted in own ticks, so that a machine that slept stops nobody.
 */
export function watchBeats(worker: Worker, onStuck: () => void): void {
  let missed: number | undefined;
  worker.on('message', (message: unknown) => {
    if (typeOf(message) === 'gateway:beat') missed = 0;
  });
  const timer = setInterval(() => {
    if (missed === undefined || ++missed <= MAX_SILENCE_MS / BEAT_MS) return;
    clearInterval(timer);
    onStuck();
  }, BEAT_MS).unref();
  worker.once('exit', () => clearInterval(timer));
}

/** Runs in front of the command in a worker, and ends it when the first process dies that early. */
const PRELOAD = packageFile('bin/worker-start.cjs');

/** In the first process: what Node.js gets to know of every worker that is forked from now on. */
export function prepareForks(): void {
  const execArgv = [...process.execArgv, '--require', PRELOAD];
  cluster.setupPrimary({ execArgv });
}

/** In a worker: the first process, which alone can take connections, is no more. */
export function onFirstProcessGone(listener: () => void): void {
  const { worker } = cluster;
  if (!worker) return;
  // From here on the disconnect tells of it, also where a message could not be sent any more.
  worker.removeAllListeners('error').on('error', () => undefined);
  worker.removeAllListeners('disconnect');
  // Else Node.js ends the worker there and then, and with it every answer under way.
  worker.exitedAfterDisconnect = true;
  process.once('disconnect', listener);
}

function tellFirst(type: Message['type']): void {
  const message: Message = { type };
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

function typeOf(message: unknown): unknown {
  return (message as Partial<Message> | null)?.type;
}
