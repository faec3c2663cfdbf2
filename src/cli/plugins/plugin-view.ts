import type { InstalledPlugin } from './installed-plugin.ts';

/** What commands tell about a plugin. */
export function toPluginView({ name, version, source, integrity, commands }: InstalledPlugin) {
  return { name, version, source, integrity, commands: commands.map(({ name }) => name) };
}
