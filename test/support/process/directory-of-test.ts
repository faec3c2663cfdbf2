import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** New directory, removed at the end of the test. */
export async function directoryOfTest(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 3 }));
  return directory;
}
