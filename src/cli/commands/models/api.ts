import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CliError, usageError } from '../../cli-error.ts';
import type { InputOf, RunOf } from '../../commands.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']);

export const run: RunOf<'api'> = async (input) => {
  const { args, context } = input;
  const method = args.method.toUpperCase();
  if (!METHODS.has(method)) throw usageError(`"${args.method}" is not an HTTP method`);
  const path = args.path;
  if (!path.startsWith('/'))
    throw usageError('the path must begin with /', `gateway api ${method} /${path}`);
  const bodyText = await bodyOf(input);
  const client = await context.connect({ keyRequired: false });
  const call = { method, path, bodyText, signal: context.signal };
  const { body: bytes } = await client.rawBytes(call);
  const text = new TextDecoder().decode(bytes);
  return { data: parse(text), text, bytes };
};

/** The JSON text that is given, which no reading and writing has changed. */
async function bodyOf({ flags, context }: InputOf<'api'>): Promise<string | undefined> {
  const given = flags.data;
  if (given === undefined) return undefined;
  let text = given;
  if (given === '-') text = await context.readStdin();
  else if (given.startsWith('@')) text = await readBody(resolve(context.io.cwd, given.slice(1)));
  try {
    JSON.parse(text);
    return text;
  } catch (cause) {
    throw new CliError({
      code: 'usage',
      message: '--data is not valid JSON',
      exit: 'usage',
      cause,
    });
  }
}

async function readBody(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new CliError({ code: 'usage', message: `cannot read ${path}`, exit: 'usage', cause });
  }
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return text;
  }
}
