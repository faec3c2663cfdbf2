import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { parse } from 'yaml';
import { z } from 'zod';
import { once } from '../../core/lazy.ts';
import { GatewayError } from '../../core/errors.ts';
import type { FormField } from '../store/dialect.ts';
import type { Body } from '../store/stored.ts';

/** Content of a sent file: its text, or bytes. */
export type SentFile = string | { base64: string };

export interface SkillFile {
  /** Below the folder of the Skill. */
  path: string;
  bytes: Buffer;
}

export interface SkillHead {
  name: string;
  description: string;
}

const MAIN = 'SKILL.md';
/** Members of a form in addition to its files; only administrators name an organization. */
const TEXTS: readonly string[] = ['display_name', 'organization'];
const MAX_FILES = 500;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_PATH = 512;
/** Bytes; file systems take no longer ones. */
const MAX_STEP = 255;
/** Characters of the part with a name and a description. */
const MAX_FRONT = 16 * 1024;
const FRONT_MATTER = /^\uFEFF?---[ \t]*\r?\n([^]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

const head = once(() =>
  z.object({
    name: z
      .string()
      .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/)
      .max(64),
    description: z.string().trim().min(1).max(1024),
  }),
);

/** Digest that views show of a file, so that a difference can be seen. */
export function fileDigest(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

export function toBytes(file: SentFile): Buffer {
  return typeof file === 'string' ? Buffer.from(file) : Buffer.from(file.base64, 'base64');
}

/**
 * The files of an upload: parts `files[]` with paths that share one top folder (requirement
 * skills.upload.rules), and `display_name`.
 *
 * @throws GatewayError `invalid_request`
 */
export function fromSkillForm(fields: readonly FormField[]): Body {
  const files: [path: string, file: SentFile][] = [];
  const body: Record<string, unknown> = {};
  let top: string | undefined;
  for (const { name, value, filename, content } of fields) {
    if (TEXTS.includes(name) && value !== undefined) body[name] = value;
    if (!/^files(\[\d*\])?$/.test(name)) continue;
    if (!content || filename === undefined) throw invalid('every part must be a file with a name');
    refusePath(filename);
    const slash = filename.indexOf('/');
    if (slash < 0) throw invalid(`${filename}: every file must lie in one top folder`);
    top ??= filename.slice(0, slash);
    if (filename.slice(0, slash) !== top) throw invalid('all files must share one top folder');
    const path = filename.slice(slash + 1);
    if (files.some(([other]) => other === path)) throw invalid(`${filename}: is there twice`);
    files.push([path, { base64: content.toString('base64') }]);
  }
  return { ...body, files: Object.fromEntries(files) };
}

/**
 * Judges the files of a Skill together and reads its `SKILL.md`.
 *
 * @throws GatewayError `invalid_request`
 */
export function checkSkillFiles(files: readonly SkillFile[]): SkillHead {
  if (files.length > MAX_FILES) throw invalid(`at most ${MAX_FILES} files`);
  let size = 0;
  for (const { path, bytes } of files) {
    refusePath(path);
    size += bytes.length;
  }
  refuseCollisions(files.map(({ path }) => path));
  if (size > MAX_BYTES) throw invalid(`at most ${MAX_BYTES} bytes in all`);
  const main = files.find(({ path }) => path === MAIN);
  if (!main) throw invalid(`${MAIN} is missing at the root of the folder`);
  return readHead(main.bytes.toString('utf8'));
}

/** The text of a `SKILL.md` after its front matter. */
export function instructionsOf(text: string): string {
  return text.replace(FRONT_MATTER, '').trim();
}

function readHead(text: string): SkillHead {
  const [, front] = FRONT_MATTER.exec(text) ?? [];
  if (front === undefined)
    throw invalid(`${MAIN} must begin with front matter between lines of ---`);
  if (front.length > MAX_FRONT)
    throw invalid(`the front matter of ${MAIN} is longer than ${MAX_FRONT} characters`);
  let declared: unknown;
  try {
    declared = parse(front, { maxAliasCount: 0 });
  } catch {
    throw invalid(`the front matter of ${MAIN} is not valid YAML`);
  }
  const read = head().safeParse(declared);
  if (read.success) return read.data;
  const field = String(read.error.issues[0]?.path[0] ?? 'name');
  const wanted =
    field === 'description'
      ? 'a description of 1 to 1024 characters'
      : 'a name of up to 64 lower-case letters, digits and single -';
  throw invalid(`the front matter of ${MAIN} must give ${wanted}`);
}

/** A member of that name is left out where objects are read. */
const NO_STEP: ReadonlySet<string> = new Set(['', '.', '..', '__proto__']);

/** Refuses all but plain paths down: unpacked files must never land elsewhere. */
function refusePath(path: string): void {
  const isPlain =
    path.length <= MAX_PATH &&
    !/[\p{Cc}\\]/u.test(path) &&
    !/^[a-z]:/i.test(path) &&
    path.split('/').every((step) => !NO_STEP.has(step)) &&
    path.split('/').every((step) => Buffer.byteLength(step) <= MAX_STEP);
  if (!isPlain)
    throw invalid(`${JSON.stringify(path.slice(0, 80))} is not a path below the folder`);
}

/** Two that many file systems take for one, and one that is a file and a folder, cannot be unpacked. */
function refuseCollisions(paths: readonly string[]): void {
  const taken = new Map<string, string>();
  for (const path of paths) {
    const other = taken.get(alike(path));
    if (other !== undefined) throw invalid(`${path}: differs from ${other} in spelling alone`);
    taken.set(alike(path), path);
  }
  for (const path of taken.keys()) {
    for (let at = path.indexOf('/'); at > 0; at = path.indexOf('/', at + 1)) {
      const folder = taken.get(path.slice(0, at));
      if (folder !== undefined) throw invalid(`${folder}: is a file and a folder`);
    }
  }
}

/** Regardless of case, and of how its letters are composed. */
function alike(path: string): string {
  return path.normalize('NFC').toLowerCase().normalize('NFC');
}

function invalid(what: string): GatewayError {
  return new GatewayError('invalid_request', { message: `files: ${what}`, param: 'files' });
}
