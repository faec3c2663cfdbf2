import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { atPath } from '../../core/disk-fault.ts';

const PLACED = { setting: 'server.data_dir' };

export interface OnceInput {
  /** Name of the file's content for people. */
  what: string;
  /** Runs where the file is not there. */
  make(): string;
}

/**
 * The line of a private file, which is made (mode 0600) if it is not there. Of several processes that
 * start at once, all get the line of one.
 *
 * @throws Error that says what to do when the file is empty or cannot be written; then nothing is left of it
 */
export async function writeOnce(path: string, { what, make }: OnceInput): Promise<string> {
  const known = await atPath(path, () => read(path), { ...PLACED, verb: 'read' });
  const line = known ?? (await atPath(path, () => create(path, make()), PLACED));
  if (line !== '') return line;
  throw new Error(`${path} is empty; put ${what} back, or remove the file`);
}

async function read(path: string): Promise<string | undefined> {
  try {
    return (await readFile(path, 'utf8')).trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Linked to its path whole, so that no reader sees a partial file. */
async function create(path: string, line: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomBytes(6).toString('hex')}`;
  try {
    await writeFile(draft, `${line}\n`, { mode: 0o600, flush: true });
    await link(draft, path);
    return line;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await read(path)) ?? '';
}
