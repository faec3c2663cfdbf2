import { fork } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { damaged } from '../damage.ts';
import type { StoreConfig } from '../store-config.ts';
import type { StoreMeta } from '../store-meta.ts';
import { StoreError, type StoreErrorCode } from '../store.ts';
import type { WalkOptions } from './summary.ts';
import type { Verified } from './verify-store.ts';

export interface ApartReport {
  readonly format: number;
  readonly meta: StoreMeta;
  readonly verified: Verified;
}

/** Messages of the process that reads, one after the other. */
export type ApartMessage =
  | { readonly rows: number }
  | { readonly report: ApartReport }
  | { readonly failure: { readonly code: StoreErrorCode; readonly message: string } };

// The same folder holds the built script, or its source while developing.
const EXTENSION = extname(import.meta.url);
const SCRIPT = fileURLToPath(new URL(`./verify-process${EXTENSION}`, import.meta.url));
const LOADER = EXTENSION === '.ts' ? ['--import', 'tsx'] : [];

/**
 * Reads and checks a store in a process of its own, for a backend that may end the process over unexpected
 * content. Rejects with `StoreError`, `corrupt` when that happened.
 */
export function verifyApart(
  config: StoreConfig,
  { signal, onRows }: WalkOptions,
): Promise<ApartReport> {
  const child = fork(SCRIPT, [], {
    execArgv: [...process.execArgv, ...LOADER],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    killSignal: 'SIGKILL',
    signal,
  });
  return new Promise((resolve, reject) => {
    child.on('message', (message: ApartMessage) => {
      if ('rows' in message) onRows(message.rows);
      else if ('report' in message) resolve(message.report);
      else reject(new StoreError(message.failure.code, message.failure.message));
    });
    child.once('error', reject);
    child.once('exit', (code, ended) => {
      const how = ended ?? `exit ${code}`;
      reject(damaged(`reading it ended the reader (${how})`, `the store in ${config.path}`));
    });
    child.send(config);
  });
}
