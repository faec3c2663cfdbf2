import { findContext, readContexts, writeContexts } from '../../connection/contexts.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'config delete-context'> = async ({ args, context }) => {
  const { env } = context.io;
  const contexts = await readContexts(env);
  const { name } = findContext(contexts, args.name);
  await writeContexts(env, {
    current: contexts.current === name ? null : contexts.current,
    list: contexts.list.filter((one) => one.name !== name),
  });
  return { data: { context: name, removed: true }, text: `deleted ${name}` };
};
