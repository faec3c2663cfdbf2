import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandSpec } from '../command.ts';

/** A command as the manifest of its package declares it, in the words of our own table. */
export interface PluginCommand extends Omit<CommandSpec, 'load' | 'light'> {
  /** Name of the command in @oclif/core, `report:daily`; absent: the plugin declares it as the binary does. */
  id?: string;
}

export interface InstalledPlugin {
  name: string;
  version: string;
  /** Source of the installation: a name and version, or a path. */
  source: string;
  integrity: string;
  commands: readonly PluginCommand[];
  /** Summaries of groups of its commands, by their words. Default: none. */
  topics?: Readonly<Record<string, string>>;
}

interface Stored {
  format: 1;
  plugin: InstalledPlugin;
}

export const RECORD = 'plugin.json';

/**
 * The plugins that are installed below a folder, by name, from their records of the install: no
 * package is opened. A folder that is no plugin, or of a newer format, is left out.
 */
export function readPlugins(folder: string): InstalledPlugin[] {
  const names = listFolders(folder).filter((name) => !name.startsWith('.'));
  return names.flatMap((name) => readRecord(join(folder, name, RECORD)) ?? []).sort(byName);
}

/** Writes the record that {@link readPlugins} reads. */
export function toRecord(plugin: InstalledPlugin): string {
  const stored: Stored = { format: 1, plugin };
  return `${JSON.stringify(stored, null, 2)}\n`;
}

function readRecord(path: string): InstalledPlugin | undefined {
  try {
    const stored = JSON.parse(readFileSync(path, 'utf8')) as Stored;
    return stored.format === 1 ? stored.plugin : undefined;
  } catch {
    return undefined;
  }
}

function listFolders(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function byName(a: InstalledPlugin, b: InstalledPlugin): number {
  return a.name < b.name ? -1 : 1;
}
