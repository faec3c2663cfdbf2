import type { CommandRun } from '../../command.ts';
import {
  findContext,
  LOCAL,
  readContexts,
  withContext,
  writeContexts,
} from '../../connection/contexts.ts';

export const run: CommandRun = async ({ context }) => {
  const { env } = context.io;
  const contexts = await readContexts(env);
  const name = context.globals.text('context') ?? contexts.current ?? LOCAL;
  if (name === LOCAL) return { data: { context: null, removed: false }, text: 'not logged in' };
  const found = findContext(contexts, name);
  const removed = found.apiKey !== null;
  if (removed) await writeContexts(env, withContext(contexts, { ...found, apiKey: null }));
  const text = removed ? `removed the key of ${name}` : `${name} has no key`;
  return { data: { context: name, removed }, text };
};
