import { installPlugin } from '../../plugins/install-plugin.ts';
import { toPluginSource } from '../../plugins/plugin-source.ts';
import { toPluginView } from '../../plugins/plugin-view.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'plugins install'> = async ({ args, context }) => {
  const source = await toPluginSource(args.plugin, context.io.cwd);
  const plugin = await installPlugin(source, context);
  return {
    data: toPluginView(plugin),
    text: `plugin ${plugin.name} ${plugin.version} installed`,
  };
};
