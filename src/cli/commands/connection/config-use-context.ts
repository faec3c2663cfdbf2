import { findContext, LOCAL, readContexts, writeContexts } from '../../connection/contexts.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'config use-context'> = async ({ args, context }) => {
  const { io, globals, output } = context;
  const name = args.name;
  const contexts = await readContexts(io.env);
  const current = name === LOCAL ? null : findContext(contexts, name).name;
  await writeContexts(io.env, { ...contexts, current });
  const [byContext, byServer] = [globals.origin('context'), globals.origin('server')];
  if (byContext !== undefined && globals.values.context !== name)
    output.warn(
      `${byContext.text} names the context ${globals.values.context}, which takes precedence`,
    );
  else if (byServer !== undefined && byServer.layer !== 'system')
    output.warn(`${byServer.text} names a server, which takes precedence`);
  return { data: { context: name }, text: `commands now use ${name}` };
};
