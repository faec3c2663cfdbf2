import type { InstalledPlugin } from './installed-plugin.ts';

/** Shows a plugin to users of commands. */
export function toPluginView({ name, version, source, integrity, commands }: InstalledPlugin) {
  return { name, version, source, integrity, commands: commands.map(({ name }) => name) };
}
