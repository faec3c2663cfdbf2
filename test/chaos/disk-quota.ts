import { execFile, spawnSync } from 'node:child_process';
import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MIB = 1024 * 1024;
const SIZE_MIB = 256;
/** Less than what the embedded store leaves alone. */
const LEFT_MIB = 40;

/** A disk of its own for the store, that fills up. */
export interface DiskQuota {
  readonly directory: string;
  fill(): Promise<void>;
  free(): Promise<void>;
  /** Unmounts it. */
  close(): Promise<void>;
}

/** Undefined where this user may not mount anything: then no disk fills up. */
export async function openDiskQuota(directory: string): Promise<DiskQuota | undefined> {
  await mkdir(directory, { recursive: true });
  try {
    await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MIB}m,mode=0700`, 'tmpfs', directory]);
  } catch {
    return undefined;
  }
  const unmount = (): void => void spawnSync('umount', ['-l', directory]);
  process.once('exit', unmount);
  const ballast = join(directory, 'ballast');
  return {
    directory,
    async fill() {
      const { bavail, bsize } = await statfs(directory);
      const bytes = bavail * bsize - LEFT_MIB * MIB;
      if (bytes > 0) await writeFile(ballast, Buffer.alloc(bytes));
    },
    free: () => rm(ballast, { force: true }),
    async close() {
      process.off('exit', unmount);
      await run('umount', ['-l', directory]);
    },
  };
}
