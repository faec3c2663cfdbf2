import { CliError } from '../../cli-error.ts';
import { removePlugin } from '../../plugins/install-plugin.ts';
import { toPluginView } from '../../plugins/plugin-view.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'plugins remove'> = async ({ args, context }) => {
  const name = args.name;
  const plugin = await removePlugin(name, context);
  if (plugin === undefined) {
    const hint = 'see `gateway plugins list`';
    throw new CliError({ code: 'not_found', message: `no plugin is called "${name}"`, hint });
  }
  return { data: toPluginView(plugin), text: `plugin ${name} removed` };
};
