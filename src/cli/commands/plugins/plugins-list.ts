import { oneLine } from '../../../core/printable.ts';
import { readPlugins } from '../../plugins/installed-plugin.ts';
import { findPluginsFolder } from '../../plugins/plugins-folder.ts';
import { toPluginView } from '../../plugins/plugin-view.ts';
import { renderTable } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'plugins list'> = async ({ context }) => {
  const folder = findPluginsFolder(context.io.env);
  const plugins = folder === undefined ? [] : readPlugins(folder).map(toPluginView);
  return {
    data: plugins,
    text: (style) =>
      context.output.quiet
        ? plugins.map(({ name }) => oneLine(name)).join('\n')
        : renderTable(
            plugins,
            [
              { title: 'NAME', value: ({ name }) => name },
              { title: 'VERSION', value: ({ version }) => version },
              { title: 'COMMANDS', value: ({ commands }) => commands.join(', '), isCut: true },
              { title: 'FROM', value: ({ source }) => source },
            ],
            { style, empty: 'no plugins' },
          ),
  };
};
