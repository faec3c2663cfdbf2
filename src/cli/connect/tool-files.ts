import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import {
  chmod,
  copyFile,
  mkdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { CliError } from '../cli-error.ts';
import { needConfigHome } from '../connection/config-home.ts';
import { writePrivateFile } from '../connection/private-file.ts';
import type { CliIo } from '../io.ts';
import { mergeContent } from './merge-content.ts';
import type { ToolFile } from './tool.ts';

type Place = Pick<CliIo, 'env' | 'cwd'>;

/** File that was written, and its copy from before. */
interface Written {
  readonly file: string;
  /** Copy of the file as it was; null: there was none. */
  readonly backup: string | null;
  /** SHA-256 of the written content. */
  readonly written: string;
  /** Present if another program changed the file between two writes; the copy lacks that change. */
  readonly wasChanged?: true;
}

/** Finds the path of a file that a tool reads. Throws `no_home` (exit 1) for a user without a home. */
export function findToolFile(
  { path, isHere = false, movedBy }: ToolFile,
  { env, cwd }: Place,
): string {
  if (isHere) return resolve(cwd, path);
  const moved = movedBy && env[movedBy.variable];
  if (movedBy && moved && isAbsolute(moved))
    return join(moved, path.slice(movedBy.folder.length).replace(/^\//, ''));
  const home = env['HOME'] ?? env['USERPROFILE'];
  if (home && isAbsolute(home)) return join(home, path);
  throw new CliError({
    code: 'no_home',
    message: `found no home for ${path}`,
    hint: 'set HOME to an absolute path',
  });
}

/**
 * Merges into the files of a tool and keeps a copy of each as it was; gives the paths of both. Nothing
 * is written when one of the files cannot be merged.
 */
export async function writeToolFiles(
  tool: string,
  files: readonly ToolFile[],
  place: Place,
): Promise<{ file: string; backup: string | null }[]> {
  const changes = await Promise.all(files.map((file) => prepareChange(file, place)));
  const before = (await readRecord(tool, place)) ?? [];
  const record: Written[] = [];
  for (const change of changes) record.push(await recordOf(change, before));
  const others = before.filter(({ file }) => !record.some((one) => one.file === file));
  const all = JSON.stringify([...record, ...others]);
  await writePrivateFile(recordPath(tool, place), `${all}\n`);
  for (const { file, text, mode } of changes) await replaceFile(file, text, mode);
  return record.map(({ file, backup }) => ({ file, backup }));
}

/** Rejects with what `writeToolFiles` would reject with, and writes nothing. */
export async function checkToolFiles(files: readonly ToolFile[], place: Place): Promise<void> {
  for (const file of files) await prepareChange(file, place);
}

interface Change {
  readonly file: string;
  readonly old: Buffer | undefined;
  readonly mode: number | undefined;
  readonly text: string;
}

async function prepareChange(content: ToolFile, place: Place): Promise<Change> {
  const file = await followLinks(await findNamedFile(content, place));
  const old = await readIfThere(file);
  const older = content.replaces && join(dirname(file), content.replaces);
  if (!old && older && (await readIfThere(older))) throw notReplaced(file, older);
  const mode = old && (await stat(file)).mode;
  return { file, old, mode, text: mergeContent(content, old?.toString('utf8')) };
}

/** The file under that of its names that is there. */
async function findNamedFile(content: ToolFile, place: Place): Promise<string> {
  const file = findToolFile(content, place);
  for (const name of content.names ?? []) {
    const named = join(dirname(file), name);
    if (await readIfThere(named)) return named;
  }
  return file;
}

function notReplaced(file: string, older: string): CliError {
  return new CliError({
    code: 'unreadable_file',
    message: `the tool reads ${older}, which it would not read with a new ${file}`,
    hint: 'move its settings to the new file first, or paste the configuration by hand; without --write it is printed',
  });
}

/** The copy of the first time is the one to go back to, however often the file is written again. */
async function recordOf({ file, old, text }: Change, before: readonly Written[]): Promise<Written> {
  const last = before.find((one) => one.file === file);
  const written = hashOf(text);
  if (last === undefined) return { file, backup: await keepCopy(file, old), written };
  const isOurs = old !== undefined && last.written === hashOf(old);
  return { ...last, written, ...(!isOurs && { wasChanged: true }) };
}

/** The files that {@link takeBack} restores, and whether others changed each since its write. */
export async function findWritten(
  tool: string,
  place: Place,
): Promise<{ file: string; isChanged: boolean }[]> {
  const record = await needRecord(tool, place);
  return Promise.all(
    record.map(async ({ file, written, wasChanged = false }) => {
      const text = await readIfThere(file);
      return { file, isChanged: wasChanged || text === undefined || hashOf(text) !== written };
    }),
  );
}

/** Restores each file byte for byte, or removes it where there was none. */
export async function takeBack(tool: string, place: Place): Promise<void> {
  for (const { file, backup } of await needRecord(tool, place)) {
    if (backup === null) await rm(file, { force: true });
    else await rename(backup, file);
  }
  await rm(recordPath(tool, place), { force: true });
}

async function needRecord(tool: string, place: Place): Promise<readonly Written[]> {
  const record = await readRecord(tool, place);
  if (record) return record;
  throw new CliError({
    code: 'nothing_written',
    message: `gateway connect ${tool} --write has written nothing that could be taken back`,
  });
}

async function readRecord(tool: string, place: Place): Promise<readonly Written[] | undefined> {
  const text = await readIfThere(recordPath(tool, place));
  if (text === undefined) return undefined;
  // Written only by this module, in one step.
  return JSON.parse(text.toString('utf8')) as readonly Written[];
}

function recordPath(tool: string, { env }: Place): string {
  return join(needConfigHome(env), 'connect', `${tool}.json`);
}

async function keepCopy(file: string, old: Buffer | undefined): Promise<string | null> {
  if (old === undefined) return null;
  for (let count = 1; ; count++) {
    const copy = `${file}.before-gateway${count === 1 ? '' : `-${count}`}`;
    try {
      await copyFile(file, copy, constants.COPYFILE_EXCL);
      await chmod(copy, (await stat(file)).mode);
      return copy;
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
    }
  }
}

/** Replaces a file by a rename, so that no tool reads half of it. New ones hold a key: private. */
async function replaceFile(file: string, text: string, mode = 0o600): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const beside = `${file}.${process.pid}`;
  try {
    await writeFile(beside, text, { mode: 0o600, flag: 'wx' });
    await chmod(beside, mode);
    await rename(beside, file);
  } finally {
    await rm(beside, { force: true });
  }
}

/** Settings are often links into a folder under version control: the link stays. */
async function followLinks(file: string): Promise<string> {
  try {
    return await realpath(file);
  } catch {
    return file;
  }
}

async function readIfThere(file: string): Promise<Buffer | undefined> {
  try {
    return await readFile(file);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}

function hashOf(content: Buffer | string): string {
  return createHash('sha256').update(content).digest('hex');
}
