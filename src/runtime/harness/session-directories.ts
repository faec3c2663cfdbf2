import { mkdir, readdir, rm } from 'node:fs/promises';
import { resolve } from 'node:path';

/** A private directory for every Session that a harness works in; it stays as long as the Session. */
export interface SessionDirectories {
  /** Makes it unless it is there. Rejects where the disk does not allow it. */
  open(sessionId: string): Promise<string>;
  /** Never rejects. */
  remove(sessionId: string): Promise<void>;
  /** Removes those of Sessions that have ended while no process watched them. Never rejects. */
  sweep(hasEnded: (sessionId: string) => Promise<boolean>): Promise<void>;
}

export function createSessionDirectories(root: string): SessionDirectories {
  // Agents want an absolute path.
  const pathOf = (sessionId: string): string => resolve(root, sessionId);
  const remove = async (sessionId: string): Promise<void> => {
    const options = { recursive: true, force: true, maxRetries: 2 };
    await rm(pathOf(sessionId), options).catch(() => undefined);
  };
  return {
    remove,
    async open(sessionId) {
      const path = pathOf(sessionId);
      await mkdir(path, { recursive: true, mode: 0o700 });
      return path;
    },
    async sweep(hasEnded) {
      const names = await readdir(root).catch(() => []);
      // Other names there are not the gateway's.
      for (const name of names.filter((one) => one.startsWith('sess_')))
        if (await hasEnded(name).catch(() => false)) await remove(name);
    },
  };
}
