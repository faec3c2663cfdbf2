import { readFileSync, statSync } from 'node:fs';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CliError } from '../cli-error.ts';

/**
 * The text of a file that only its owner may read, undefined when it is missing. Throws
 * `insecure_key_file` (exit 4) with the chmod to run when others may.
 */
export function readPrivateFile(path: string): string | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0) {
    const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
    throw new CliError({
      code: 'insecure_key_file',
      message: `${path} has mode ${mode}: others on this machine may read the key`,
      hint: `chmod 600 ${path}`,
      exit: 'auth',
    });
  }
  return readFileSync(path, 'utf8');
}

/** Replaces the file in one step: other users can never read it, and no reader sees half of it. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const beside = `${path}.${process.pid}`;
  try {
    await rm(beside, { force: true });
    await writeFile(beside, text, { mode: 0o600, flag: 'wx' });
    // The mode above is less what the umask takes away.
    await chmod(beside, 0o600);
    await rename(beside, path);
  } finally {
    await rm(beside, { force: true });
  }
}
