import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../cli-error.ts';
import { COMMANDS } from '../commands.ts';
import { unwritable } from '../connection/config-home.ts';
import type { CommandContext } from '../context.ts';
import { readPlugins, RECORD, toRecord, type InstalledPlugin } from './installed-plugin.ts';
import { linkGateway } from './link-gateway.ts';
import { isTaken } from './plugin-commands.ts';
import { folderOf, needPluginsFolder } from './plugin-place.ts';
import { stagePlugin } from './stage-plugin.ts';

/**
 * Installs a plugin for the user, or another version of it in its place, after asking. It is
 * staged next to the others and moved in as a whole, so an interrupted install changes nothing.
 * Throws `plugin_invalid`, `command_taken` (exit 5), `declined`, and the errors of npm.
 */
export async function installPlugin(
  source: string,
  context: CommandContext,
): Promise<InstalledPlugin> {
  const plugins = needPluginsFolder(context.io.env);
  await mkdir(plugins, { recursive: true, mode: 0o700 }).catch((cause: unknown) => {
    throw unwritable(plugins, 'XDG_DATA_HOME', cause);
  });
  const staging = await mkdtemp(join(plugins, '.install-'));
  try {
    const folder = join(staging, 'new');
    await mkdir(folder);
    const plugin = await stagePlugin({ folder, source, context });
    checkNames(plugin, readPlugins(plugins), context);
    const commands = plugin.commands.map(({ name }) => `gateway ${name}`).join(', ');
    context.output.note(`${plugin.name} ${plugin.version} from ${source} (${plugin.integrity})`);
    context.output.note(`commands: ${commands}`);
    await context.confirm(
      `Install ${plugin.name} ${plugin.version}? It runs with all your rights.`,
    );
    await linkGateway(folder);
    await writeFile(join(folder, RECORD), toRecord(plugin));
    const target = folderOf(plugins, plugin.name);
    await rename(target, join(staging, 'old')).catch(unlessMissing);
    await rename(folder, target);
    return plugin;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Removes a plugin with everything that was installed for it; undefined: there is none so called. */
export async function removePlugin(
  name: string,
  { io }: CommandContext,
): Promise<InstalledPlugin | undefined> {
  const plugins = needPluginsFolder(io.env);
  const plugin = readPlugins(plugins).find((one) => one.name === name);
  if (plugin === undefined) return undefined;
  await rm(folderOf(plugins, name), { recursive: true, force: true });
  return plugin;
}

/** Commands of the binary win over those of plugins, with a warning; two plugins may not clash. */
function checkNames(
  plugin: InstalledPlugin,
  others: readonly InstalledPlugin[],
  { output }: CommandContext,
): void {
  const hidden = plugin.commands.filter((command) => isTaken(COMMANDS, command));
  for (const { name } of hidden) {
    output.warn(`"gateway ${name}" remains the built-in command; that of ${plugin.name} is hidden`);
  }
  if (hidden.length === plugin.commands.length) {
    const message = `${plugin.name} has no command that is not built in`;
    throw new CliError({ code: 'command_taken', message, exit: 'conflict' });
  }
  for (const other of others.filter(({ name }) => name !== plugin.name)) {
    const taken = plugin.commands.find((command) =>
      other.commands.some(({ name }) => name === command.name || isWithin(name, command.name)),
    );
    if (taken === undefined) continue;
    throw new CliError({
      code: 'command_taken',
      message: `"gateway ${taken.name}" clashes with a command of the plugin ${other.name}`,
      hint: `remove that one first: gateway plugins remove ${other.name}`,
      exit: 'conflict',
    });
  }
}

/** True if one of the two is a command below the other. */
function isWithin(one: string, two: string): boolean {
  return one.startsWith(`${two} `) || two.startsWith(`${one} `);
}

function unlessMissing(thrown: NodeJS.ErrnoException): void {
  if (thrown.code !== 'ENOENT') throw thrown;
}
