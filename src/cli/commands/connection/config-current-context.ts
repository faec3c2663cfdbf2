import { LOCAL, readContexts } from '../../connection/contexts.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'config current-context'> = async ({ context }) => {
  const named = context.globals.values.context;
  const name = named ?? (await readContexts(context.io.env)).current ?? LOCAL;
  return { data: { context: name }, text: name };
};
