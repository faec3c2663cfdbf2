import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];

/** An empty directory of the test file's own, so that no `.gateway` of the machine is found. */
export async function emptyDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), 'gateway-cli-')));
  made.push(directory);
  return directory;
}

/** Removes the directories that the test file made. */
export async function removeDirectories(): Promise<void> {
  for (const directory of made.splice(0)) await rm(directory, { recursive: true, force: true });
}
