import { reasonOf } from '../../core/errors.ts';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';
import { isRecord } from '../../client/http/guards.ts';
import { kindOf, type KindName } from '../../config/objects/kinds.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { FlagInput } from '../command-input.ts';
import type { FIELDS } from '../tables/write-commands.ts';

export interface Body {
  readonly body: Readonly<Record<string, unknown>>;
  /** Start of relative paths in it. */
  readonly directory: string;
}

/** Members of a document around its sections. */
const AROUND: ReadonlySet<string> = new Set(['version', 'namespace']);

/**
 * Fields that -f gives as YAML or JSON: those of one object, or a document with only this one.
 * Empty without -f.
 *
 * @throws CliError `usage` (exit 64) for a file that cannot be read; `invalid_config` (exit 3) for a text
 *   that declares no object
 */
export async function readBody(
  kind: KindName,
  { flags, context }: FlagInput<typeof FIELDS>,
): Promise<Body> {
  const file = flags.file;
  const { cwd } = context.io;
  if (file === undefined) return { body: {}, directory: cwd };
  const path = resolve(cwd, file);
  const text = file === '-' ? await context.readStdin() : await readText(path, file);
  const value = entryIn(kind, read(text, file));
  if (!isRecord(value) || Object.keys(value).length === 0)
    throw invalid(`${file} declares no ${kind}`);
  for (const field of ['id', 'lifecycle'])
    if (field in value) throw invalid(`${file}: ${field} is for gateway.yaml alone`);
  return { body: value, directory: file === '-' ? cwd : dirname(path) };
}

async function readText(path: string, file: string): Promise<string> {
  return readFile(path, 'utf8').catch((cause: unknown) => {
    throw Object.assign(usageError(`${file} cannot be read`), { cause });
  });
}

function read(text: string, file: string): unknown {
  try {
    const value: unknown = parse(text);
    return value;
  } catch (cause) {
    const [first = ''] = reasonOf(cause).split('\n');
    throw invalid(`${file}: ${first.replace(/:$/, '')}`);
  }
}

/** The entry of a document that declares only one; any other value unchanged. */
function entryIn(kind: KindName, value: unknown): unknown {
  const { collection } = kindOf(kind);
  if (!isRecord(value) || !Array.isArray(value[collection])) return value;
  const entries: unknown[] = value[collection];
  const isAlone = Object.keys(value).every((name) => name === collection || AROUND.has(name));
  return isAlone && entries.length === 1 && isRecord(entries[0]) ? entries[0] : value;
}

function invalid(message: string): CliError {
  return new CliError({ code: 'invalid_config', message, exit: 'invalid_config' });
}
