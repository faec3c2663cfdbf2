import type { CommandRun } from '../../command.ts';
import { installPlugin } from '../../plugins/install-plugin.ts';
import { toPluginSource } from '../../plugins/plugin-source.ts';
import { toPluginView } from '../../plugins/plugin-view.ts';

export const run: CommandRun = async ({ args, context }) => {
  const source = await toPluginSource(args['plugin'] ?? '', context.io.cwd);
  const plugin = await installPlugin(source, context);
  return {
    data: toPluginView(plugin),
    text: `plugin ${plugin.name} ${plugin.version} installed`,
  };
};
