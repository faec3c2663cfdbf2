import type { CommandRun } from '../../command.ts';
import { LOCAL, readContexts } from '../../connection/contexts.ts';

export const run: CommandRun = async ({ context }) => {
  const named = context.globals.text('context');
  const name = named ?? (await readContexts(context.io.env)).current ?? LOCAL;
  return { data: { context: name }, text: name };
};
