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

/** Answers the worker's question for its settings. Called in the first process. */
export function offerSettings(worker: Worker, settings: string): void {
  const answer: Message = { type: 'gateway:settings', settings };
  worker.on('message', (message: unknown) => {
    // One that is gone already tells so by its exit.
    if (typeOf(message) === 'gateway:hello') worker.send(answer, () => undefined);
  });
}

/** Asks the first process for its settings: sent unasked they could come before anything listens. */
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

/** Has a worker read the files of its certificate again. Called in the first process. */
export function tellToRenew(worker: Worker): void {
  const message: Message = { type: 'gateway:renew' };
  if (worker.isConnected()) worker.send(message, () => undefined);
}

/** Calls the listener whenever a worker is told to renew; returns the function that stops it. */
export function onRenew(listener: () => void): () => void {
  const take = (message: unknown): void => {
    if (typeOf(message) === 'gateway:renew') listener();
  };
  process.on('message', take);
  return () => void process.off('message', take);
}

/** Tells the first process that the event loop of this worker turns. */
export function startBeating(): void {
  setInterval(() => tellFirst('gateway:beat'), BEAT_MS).unref();
}

/**
 * Calls `onStuck` once in the first process when a worker that has been heard of is silent for
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

/** Sets the options of Node.js for every worker that is forked from now on. Called in the first process. */
export function prepareForks(): void {
  const execArgv = [...process.execArgv, '--require', PRELOAD];
  cluster.setupPrimary({ execArgv });
}

/** Calls the listener in a worker when the first process, which alone can take connections, has ended. */
export function onFirstProcessGone(listener: () => void): void {
  const { worker } = cluster;
  if (!worker) return;
  // The disconnect alone tells of it, also where a message could not be sent any more.
  worker.removeAllListeners('error').on('error', () => undefined);
  worker.removeAllListeners('disconnect');
  // Node.js would end the worker there and then, and with it every answer under way.
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
