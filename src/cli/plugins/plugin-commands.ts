import { findCommand, parentOf, type CommandSpec } from '../command.ts';
import type { CommandInput } from '../command-input.ts';
import { readPlugins, type InstalledPlugin, type PluginCommand } from './installed-plugin.ts';

/**
 * The table of the binary, then the commands of the plugins below a folder. Built-in commands win:
 * one of a plugin that is called like one of them is left out. Runs no code of a plugin.
 */
export function withPluginCommands(
  builtin: readonly CommandSpec[],
  folder: string,
): readonly CommandSpec[] {
  const commands: CommandSpec[] = [...builtin];
  for (const plugin of readPlugins(folder)) {
    for (const command of plugin.commands) {
      if (isTaken(builtin, command)) continue;
      commands.push(...missingGroups(commands, plugin, command.name), toSpec(plugin, command));
    }
  }
  return commands;
}

/** True if the words of a plugin's command call one of the binary, or are the arguments of one. */
export function isTaken(builtin: readonly CommandSpec[], { name }: PluginCommand): boolean {
  const words = name.split(' ');
  const found = findCommand(builtin, words);
  return found !== undefined && (found.used === words.length || found.command.load !== undefined);
}

function toSpec(plugin: InstalledPlugin, command: PluginCommand): CommandSpec {
  const { id: _id, ...spec } = command;
  return {
    ...spec,
    summary: `${command.summary} (plugin ${plugin.name})`,
    description: command.description ?? `${command.summary}. Of the plugin ${plugin.name}.`,
    async load() {
      const { runPlugin } = await import('./run-plugin.ts');
      return { run: (input: CommandInput) => runPlugin({ plugin, spec: command }, input) };
    },
  };
}

function missingGroups(
  commands: readonly CommandSpec[],
  plugin: InstalledPlugin,
  name: string,
): CommandSpec[] {
  const parent = parentOf(name);
  if (parent === '' || commands.some((command) => command.name === parent)) return [];
  const summary = plugin.topics?.[parent] ?? `Commands of the plugin ${plugin.name}`;
  return [...missingGroups(commands, plugin, parent), { name: parent, summary, examples: [] }];
}
