import { openAsBlob } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fromZip } from '../../resources/skills/zip.ts';
import { CliError, usageError } from '../cli-error.ts';

/** Most files of a Skill; more are not looked for. */
const MAX_FILES = 500;
/** Names that editors and tools leave in a folder. */
const PASSED_OVER: ReadonlySet<string> = new Set(['.git', '.DS_Store', 'node_modules']);

/** The files of a folder as the form that uploads them; exit 64 for a folder that is no Skill. */
export async function toSkillForm(folder: string): Promise<FormData> {
  const paths = await listSkill(folder);
  const form = new FormData();
  for (const path of paths)
    form.append('files[]', await openAsBlob(join(folder, path)), `skill/${path}`);
  return form;
}

/** The files of a folder with their content; exit 64 for a folder that is no Skill. */
export async function readSkillFolder(folder: string): Promise<{ path: string; bytes: Buffer }[]> {
  const paths = await listSkill(folder);
  return Promise.all(
    paths.map(async (path) => ({ path, bytes: await readFile(join(folder, path)) })),
  );
}

async function listSkill(folder: string): Promise<string[]> {
  const paths = await listFiles(folder);
  if (paths.includes('SKILL.md')) return paths;
  throw usageError(`${folder} holds no SKILL.md`, 'name the folder of the Skill');
}

/**
 * Unpacks the archive of a version into a folder that is new or empty; exit 64 for another, and nothing
 * is written outside of it. Gives the paths.
 */
export async function writeSkillFolder(archive: Buffer, folder: string): Promise<string[]> {
  const there = await readdir(folder).catch(() => []);
  if (there.length > 0) throw usageError(`${folder} is not empty`);
  const written: string[] = [];
  for (const { path, bytes } of readArchive(archive)) {
    // The first step is the Skill itself.
    const below = path.slice(path.indexOf('/') + 1);
    const target = placeBelow(folder, below);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, bytes, { flag: 'wx' });
    written.push(below);
  }
  return written;
}

/** @throws CliError `invalid_response` */
export function readArchive(archive: Buffer): ReturnType<typeof fromZip> {
  try {
    return fromZip(archive);
  } catch (cause) {
    throw unfit(cause);
  }
}

/**
 * Path of a Skill's file below a folder; throws CliError `invalid_response` for one that leads
 * elsewhere.
 */
export function placeBelow(folder: string, path: string): string {
  const target = resolve(folder, path);
  if (!isBelow(resolve(folder), target)) throw unfit();
  return target;
}

function unfit(cause?: unknown): CliError {
  return new CliError({ code: 'invalid_response', message: 'the server sent no Skill', cause });
}

function isBelow(folder: string, target: string): boolean {
  const way = relative(folder, target);
  return (
    way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && resolve(folder, way) === target
  );
}

/** Only plain files, with `/` between folders. */
async function listFiles(folder: string): Promise<string[]> {
  const found: string[] = [];
  const visit = async (below: string): Promise<void> => {
    const entries = await readdir(join(folder, below), { withFileTypes: true }).catch(
      (cause: unknown) => {
        throw Object.assign(usageError(`${join(folder, below)} cannot be read`), { cause });
      },
    );
    for (const entry of entries) {
      if (PASSED_OVER.has(entry.name)) continue;
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) await visit(path);
      else if (entry.isFile()) found.push(path);
      if (found.length > MAX_FILES)
        throw usageError(`${folder} holds more than ${MAX_FILES} files`);
    }
  };
  await visit('');
  return found.toSorted();
}
