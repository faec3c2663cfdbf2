import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

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
 * Resolves when a gateway that runs has stored what waits now, which takes it a fifth of a second; after
 * 2 seconds in any case, for it may have been killed.
 */
export async function letThemBeStored(directory: string): Promise<void> {
  const first = new Set(await findWaiting(directory));
  for (let look = 0; look < MAX_LOOKS; look++) {
    if (!(await findWaiting(directory)).some((name) => first.has(name))) return;
    await pause(LOOK_MS);
  }
}
