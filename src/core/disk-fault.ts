import { randomBytes } from 'node:crypto';
import { rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the system means by the codes of a file that cannot be written, and the next step. */
const FAULTS: Readonly<Record<string, readonly [what: string, next: string]>> = {
  ENOSPC: ['no space is left on its disk', 'free some space there'],
  EDQUOT: ['the disk quota of this user is used up', 'free some space there or raise the quota'],
  EFBIG: ['the file may not grow further', 'raise the limit of file sizes (ulimit -f)'],
  EROFS: ['its disk is mounted read-only', 'mount it for writing'],
  EACCES: ['this user has no right to it', 'give it to the user of the gateway'],
  EPERM: ['this user has no right to it', 'give it to the user of the gateway'],
  EMFILE: ['this process has too many files open', 'raise the limit (ulimit -n, LimitNOFILE=)'],
  ENFILE: ['too many files are open on this machine', 'raise fs.file-max'],
  EIO: ['its disk is failing', 'check the disk'],
  ENOTDIR: ['a part of that path is a file', 'move the file away'],
  EISDIR: ['a folder of that name is in the way', 'move the folder away'],
  EEXIST: ['a file of that name is in the way', 'move the file away'],
  ENAMETOOLONG: ['the path is too long', 'choose a shorter one'],
  ELOOP: ['its symbolic links lead to each other', 'mend the links'],
};

export interface Use {
  /** Verb for what the work does to the file. Default: `write`. */
  readonly verb?: 'write' | 'read' | 'use';
  /** Purpose of the file, with its preposition: `as the data directory`. */
  readonly purpose?: string;
  /** Key of the configuration that names another path. */
  readonly setting?: string;
}

/**
 * Runs work on a file or a folder. Where the system refuses it, rejects with one sentence that has the path, the
 * cause and the next step, and the system's `code`; else as the work does.
 */
export async function atPath<R>(path: string, work: () => Promise<R>, use: Use = {}): Promise<R> {
  try {
    return await work();
  } catch (error) {
    throw atPathFault(path, error, use);
  }
}

/** The same for an error that was caught; one that no code of the system explains stays as it is. */
export function atPathFault(path: string, cause: unknown, use: Use = {}): unknown {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const fault = FAULTS[code];
  if (!fault) return cause;
  const [what, next] = fault;
  const place = use.purpose === undefined ? path : `${path} ${use.purpose}`;
  const other = use.setting === undefined ? '' : `, or name another with ${use.setting}`;
  const message = `cannot ${use.verb ?? 'write'} ${place}: ${what} (${code}); ${next}${other}`;
  return Object.assign(new Error(message, { cause }), { code });
}

/** A page of most disks: less may find room in the entry of the folder. */
const PROBE_BYTES = 4096;

/**
 * Writes a file into a folder, removes it, and gives the bytes that this user may still write there. Rejects as
 * {@link atPath}.
 */
export function probeFolder(folder: string): Promise<number> {
  return atPath(folder, async () => {
    const probe = join(folder, `.probe.${randomBytes(6).toString('hex')}`);
    try {
      await writeFile(probe, Buffer.alloc(PROBE_BYTES), { mode: 0o600, flush: true });
    } finally {
      await rm(probe, { force: true });
    }
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  });
}
