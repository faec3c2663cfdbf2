import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { usageError } from '../cli-error.ts';
import type { FlagValues } from '../grammar/flags.ts';
import type { CommandContext } from '../context.ts';
import type { VALUE_FLAGS } from '../tables/shared-words.ts';

/** Characters. */
const MAX_VALUE = 65_536;

/**
 * The value of a secret, without the line break at its end; exit 64 unless exactly one source is
 * named and it is not empty. Messages never contain any of the value.
 */
export async function readSecretValue(
  flags: FlagValues<typeof VALUE_FLAGS>,
  context: CommandContext,
): Promise<string> {
  const file = flags['value-file'];
  const variable = flags['value-env'];
  const isStdin = flags['value-stdin'];
  const named = [file !== undefined, variable !== undefined, isStdin].filter(Boolean).length;
  if (named !== 1) {
    const how = 'name one of --value-file, --value-stdin and --value-env';
    throw usageError(named === 0 ? 'the value is missing' : 'the value comes from one place', how);
  }
  const { text, from } = await read({ file, variable }, context);
  const value = text.replace(/\r?\n$/, '');
  if (value === '') throw usageError(`${from} is empty`);
  if (value.length > MAX_VALUE) throw usageError(`${from} is longer than ${MAX_VALUE} characters`);
  return value;
}

async function read(
  { file, variable }: { file: string | undefined; variable: string | undefined },
  context: CommandContext,
): Promise<{ text: string; from: string }> {
  const { env, cwd } = context.io;
  if (variable !== undefined) {
    const text = env[variable];
    if (text === undefined) throw usageError(`the environment variable ${variable} is not set`);
    return { text, from: `the environment variable ${variable}` };
  }
  if (file === undefined) return { text: await context.readStdin(), from: 'stdin' };
  const text = await readFile(resolve(cwd, file), 'utf8').catch((cause: unknown) => {
    throw Object.assign(usageError(`${file} cannot be read`), { cause });
  });
  return { text, from: file };
}
