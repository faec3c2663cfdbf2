import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseKeepingDigits } from '../../core/json/digits.ts';
import { usageError } from '../cli-error.ts';
import type { CommandContext } from '../context.ts';

/** The JSON that a flag gives: itself, `@FILE`, or `-` for stdin; exit 64 for anything else. */
export async function readJsonValue(
  given: string,
  flag: string,
  context: CommandContext,
): Promise<unknown> {
  let text = given;
  if (given === '-') text = await context.readStdin();
  else if (given.startsWith('@')) text = await read(resolve(context.io.cwd, given.slice(1)));
  try {
    return parseKeepingDigits(text);
  } catch {
    throw usageError(`--${flag} is not valid JSON`);
  }
}

async function read(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch {
    throw usageError(`cannot read ${path}`);
  }
}
