import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { usageError } from '../../cli-error.ts';
import type { InputOf, RunOf } from '../../commands.ts';
import { readJsonValue } from '../../input/read-json-value.ts';
import { lookUp } from '../../resources/not-found.ts';
import { toToolResult } from '../../waiting/answers.ts';
import { pickCalls } from '../../waiting/pick-calls.ts';
import { sendEvents } from '../../waiting/show-turn.ts';

export const run: RunOf<'sessions answer'> = async (input) => {
  const { args, flags, context } = input;
  const value = await readResult(input);
  const client = await context.connect();
  const { session } = args;
  const { waiting } = await lookUp({ kind: 'sessions', named: session }, () =>
    client.sessions.get(session, context.signal),
  );
  const named = flags.call === undefined ? [] : [flags.call];
  const calls = pickCalls({ session, waiting, named, asksPermission: false });
  const isError = flags.failed;
  const events = calls.map((call) => toToolResult(call, { value, isError }));
  const text = calls.map(({ id, name }) => `answered ${name} (${id})`).join('\n');
  return sendEvents({ context, flags }, { client, session, events, text });
};

/** The one result that is given: as text, as a file, as JSON, or on stdin. */
async function readResult({ args, flags, context }: InputOf<'sessions answer'>): Promise<unknown> {
  const { file, data } = flags;
  const given = [args.result, file, data].filter((one) => one !== undefined);
  if (given.length > 1)
    throw usageError('the result is given twice', 'give it as the argument, --file or --data');
  if (data !== undefined) return readJsonValue(data, 'data', context);
  if (file !== undefined) {
    return readFile(resolve(context.io.cwd, file), 'utf8').catch((cause: unknown) => {
      throw Object.assign(usageError(`${file} cannot be read`), { cause });
    });
  }
  if (args.result !== undefined && args.result !== '-') return args.result;
  if (args.result === undefined && context.io.stdin.isTTY)
    throw usageError(
      'the result is missing',
      "gateway sessions answer <session> '…', or pipe it in",
    );
  return (await context.readStdin()).trimEnd();
}
