import { CliError } from '../../cli-error.ts';
import type { CommandRun } from '../../command.ts';
import { removePlugin } from '../../plugins/install-plugin.ts';
import { toPluginView } from '../../plugins/plugin-view.ts';

export const run: CommandRun = async ({ args, context }) => {
  const name = args['name'] ?? '';
  const plugin = await removePlugin(name, context);
  if (plugin === undefined) {
    const hint = 'see `gateway plugins list`';
    throw new CliError({ code: 'not_found', message: `no plugin is called "${name}"`, hint });
  }
  return { data: toPluginView(plugin), text: `plugin ${name} removed` };
};
