import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Client } from '../../client/create-client.ts';
import type { View } from '../../config/actual/actual.ts';
import type { DumpedTree } from '../../config/actual/pinned.ts';
import { asWritten } from '../../config/actual/dump.ts';
import { isRecord } from '../../config/objects/record.ts';
import type { SentFile } from '../../resources/skills/skill-files.ts';
import { readBytes } from '../input/read-bytes.ts';
import { placeBelow, readArchive } from '../input/skill-folder.ts';

/** Skills with the content of their files, in place of digests. */
export async function withFiles(
  skills: readonly View[],
  client: Client,
  signal: AbortSignal,
): Promise<View[]> {
  const whole: View[] = [];
  for (const skill of skills) {
    const path = `versions/${String(skill['latest_version_id'])}/content`;
    const content = client.admin('skills').below(skill.id).bytes(path, signal);
    const entries = readArchive(await readBytes(await content));
    const files = entries.map(({ path, bytes }) => [
      // The first step is the Skill itself.
      path.slice(path.indexOf('/') + 1),
      toSent(bytes),
    ]);
    whole.push({ ...skill, files: Object.fromEntries(files) as Record<string, SentFile> });
  }
  return whole;
}

/** Content as text where that is the same bytes again, else as base64. */
export function toSent(bytes: Buffer): SentFile {
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : { base64: bytes.toString('base64') };
}

/**
 * Limits of a file for `${file:PATH}`: 1 MiB, no byte order mark, no other end of line at its end.
 */
const MAX_BYTES = 1024 * 1024;

/**
 * The tree with the texts of Skills in files of their own, below `skills/`, which are written to
 * `directory`. Gives the tree and their paths.
 */
export async function writeSkillFiles(
  tree: DumpedTree,
  directory: string,
): Promise<{ tree: DumpedTree; files: string[] }> {
  const skills = Array.isArray(tree['skills']) ? tree['skills'].filter(isRecord) : [];
  const written: string[] = [];
  const folders = new Set<string>();
  const entries: Record<string, unknown>[] = [];
  for (const skill of skills) {
    const folder = newFolder(String(skill['name']), folders);
    const files: Record<string, unknown> = {};
    for (const [path, file] of Object.entries(isRecord(skill['files']) ? skill['files'] : {})) {
      const target = `skills/${folder}/${path}`;
      files[path] = file;
      if (typeof file !== 'string' || !isIncludable(asWritten(file), target)) continue;
      const place = placeBelow(join(directory, 'skills', folder), path);
      await mkdir(dirname(place), { recursive: true });
      // A file that is brought in loses the last line break.
      await writeFile(place, `${asWritten(file)}\n`);
      files[path] = `\${file:${target}}`;
      written.push(target);
    }
    entries.push({ ...skill, files });
  }
  return { tree: entries.length > 0 ? { ...tree, skills: entries } : tree, files: written };
}

function isIncludable(text: string, path: string): boolean {
  const fits = Buffer.byteLength(text) < MAX_BYTES;
  return fits && !text.startsWith('\uFEFF') && !text.endsWith('\r') && !/[{}]/.test(path);
}

/** Names of two organizations may be the same, and no folder may lead elsewhere. */
function newFolder(name: string, taken: Set<string>): string {
  const plain = name.toLowerCase().replace(/[^a-z0-9_-]+/g, '-');
  let folder = plain;
  for (let number = 2; taken.has(folder); number++) folder = `${plain}-${number}`;
  taken.add(folder);
  return folder;
}
