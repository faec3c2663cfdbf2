import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { StoreError } from '../../store.ts';

const LOOK_MS = 50;
const MAX_LOOKS = 40;

/** Folder of what a gateway keeps until the store has it; part of the store. */
export const waitingFolder = (directory: string): string => join(directory, 'ledger');

/** Files of rows that are not in the store yet. */
export async function findWaiting(directory: string): Promise<string[]> {
  return readdir(waitingFolder(directory)).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
}

/**
 * Resolves when a gateway that runs has stored what waits now, which takes it a fifth of a second. Rejects
 * with `StoreError` `locked` after 2 seconds, for the gateway that left it was killed.
 */
export async function letThemBeStored(directory: string): Promise<void> {
  const first = new Set(await findWaiting(directory));
  for (let look = 0; look < MAX_LOOKS; look++) {
    if (!(await findWaiting(directory)).some((name) => first.has(name))) return;
    await pause(LOOK_MS);
  }
  const message =
    'calls of a gateway that was killed are not yet in the store; one that runs on it stores them within a minute, else start one, and stop it';
  throw new StoreError('locked', message);
}
