import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { packageFile } from '../../core/package-root.ts';
import { fromSettingsMessage } from './worker-settings.ts';
import type { ReceivedSettings } from './worker-settings.ts';

/** Between the first process and its workers, in addition to the messages of Node.js itself. */
interface Message {
  readonly type:
    | 'gateway:hello'
    | 'gateway:settings'
    | 'gateway:beat'
    | 'gateway:renew'
    | 'gateway:reload'
    | 'gateway:series';
  readonly settings?: string;
  readonly reloadError?: string | null;
  /** Answer of a worker; the question of the first process has none. */
  readonly series?: unknown;
}

/** Facts that a worker begins with. */
export interface Offer {
  readonly settings: string;
  /** Reason why the last reload was refused, as it is when the worker asks. */
  reloadError(): string | null;
}

const BEAT_MS = 2_000;
/** Longer than any work of the event loop and any pause of a machine under load takes. */
const MAX_SILENCE_MS = 30_000;

/** Answers the worker's question for its settings. Called in the first process. */
export function offerSettings(worker: Worker, { settings, reloadError }: Offer): void {
  worker.on('message', (message: unknown) => {
    if (typeOf(message) !== 'gateway:hello') return;
    tellReload(worker, reloadError());
    tellWorker(worker, { type: 'gateway:settings', settings });
  });
}

/** Asks the first process for its settings: sent unasked they could come before anything listens. */
export function receiveSettings(): Promise<ReceivedSettings> {
  return new Promise((resolve) => {
    const take = (message: unknown): void => {
      if (typeOf(message) !== 'gateway:settings') return;
      process.off('message', take);
      resolve(fromSettingsMessage((message as Message).settings ?? ''));
    };
    process.on('message', take);
    void tellFirst({ type: 'gateway:hello' });
  });
}

/** Has a worker read the files of its certificate again. Called in the first process. */
export function tellToRenew(worker: Worker): void {
  tellWorker(worker, { type: 'gateway:renew' });
}

/** Calls the listener whenever a worker is to renew; returns the function that stops it. */
export function onRenew(listener: () => void): () => void {
  return onMessage('gateway:renew', listener);
}

/** Sends a worker why the last reload was refused, or null. Called in the first process. */
export function tellReload(worker: Worker, reloadError: string | null): void {
  tellWorker(worker, { type: 'gateway:reload', reloadError });
}

/** Calls the listener in a worker with each message of {@link tellReload}. */
export function onReload(listener: (reloadError: string | null) => void): void {
  onMessage('gateway:reload', ({ reloadError = null }) => listener(reloadError));
}

/** Asks a worker for its series, which come as an answer to {@link onSeries}. Called in the first process. */
export function askForSeries(worker: Worker): void {
  tellWorker(worker, { type: 'gateway:series' });
}

/** Calls the listener in the first process with the series of a worker's {@link offerSeries}. */
export function onSeries(worker: Worker, listener: (series: unknown) => void): void {
  worker.on('message', (message: unknown) => {
    if (typeOf(message) === 'gateway:series') listener((message as Message).series);
  });
}

/**
 * Sends the first process the series of this worker: now, whenever it asks, and whenever the
 * function that it gives is called, which resolves when they are sent.
 */
export async function offerSeries(read: () => Promise<unknown>): Promise<() => Promise<void>> {
  const tell = async (): Promise<void> =>
    tellFirst({ type: 'gateway:series', series: await read() });
  onMessage('gateway:series', () => void tell());
  await tell();
  return tell;
}

/** Sends the first process a beat for as long as the event loop of this worker runs. */
export function startBeating(): void {
  setInterval(() => void tellFirst({ type: 'gateway:beat' }), BEAT_MS).unref();
}

/**
 * Calls `onStuck` once in the first process when a worker that has sent a beat is silent for
 * 30 seconds. Counted in own ticks, so that a machine that slept stops no worker.
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

/** Runs before the command in a worker, and ends it when the first process dies that early. */
const PRELOAD = packageFile('bin/worker-start.cjs');

/** Sets the options of Node.js for every worker that is forked from now on. Called in the first process. */
export function prepareForks(): void {
  const execArgv = [...process.execArgv, '--require', PRELOAD];
  cluster.setupPrimary({ execArgv });
}

/** Calls the listener in a worker when the first process, the only acceptor, has ended. */
export function onFirstProcessGone(listener: () => void): void {
  const { worker } = cluster;
  if (!worker) return;
  // The disconnect is signal enough, also where a message could not be sent any longer.
  worker.removeAllListeners('error').on('error', () => undefined);
  worker.removeAllListeners('disconnect');
  // Node.js would end the worker there and then, and with it every answer under way.
  worker.exitedAfterDisconnect = true;
  process.once('disconnect', listener);
}

/** One that is gone already is noticed by its exit. */
function tellWorker(worker: Worker, message: Message): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}

/** Resolves when it is sent, or cannot be. */
async function tellFirst(message: Message): Promise<void> {
  if (!process.connected) return;
  await new Promise<void>((resolve) => {
    process.send?.(message, undefined, undefined, () => resolve());
  });
}

/** Calls the listener in a worker; returns the function that stops it. */
function onMessage(type: Message['type'], listener: (message: Message) => void): () => void {
  const take = (message: unknown): void => {
    if (typeOf(message) === type) listener(message as Message);
  };
  process.on('message', take);
  return () => void process.off('message', take);
}

function typeOf(message: unknown): unknown {
  return (message as Partial<Message> | null)?.type;
}
