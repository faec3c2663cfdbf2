import type { InstalledPlugin } from './installed-plugin.ts';

/** View of a plugin in the output of commands. */
export function toPluginView({ name, version, source, integrity, commands }: InstalledPlugin) {
  return { name, version, source, integrity, commands: commands.map(({ name }) => name) };
}
