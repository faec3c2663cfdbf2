import { reasonOf } from '../../core/errors.ts';
import { readlink, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../cli-error.ts';
import { commandsModule, MANIFEST, toDeclaredManifest } from './declared-commands.ts';
import { linkGateway } from './link-gateway.ts';
import { toPluginCommands, type ReadManifest } from './to-plugin-commands.ts';

export interface WrittenManifest extends ReadManifest {
  path: string;
}

/**
 * Writes `gateway.manifest.json`, or `oclif.manifest.json` for classes of oclif, of the plugin in a directory, for its author: this loads its commands.
 * Throws `plugin_invalid` when one cannot be loaded or is not as `gateway plugins install` needs it.
 */
export async function writeManifest(root: string): Promise<WrittenManifest> {
  await linkUnlessInstalled(root);
  try {
    const declared = await commandsModule(root);
    if (declared === undefined) return await writeOclif(root);
    const made = await toDeclaredManifest(root, declared);
    const path = join(root, MANIFEST);
    await writeFile(path, `${JSON.stringify(made, null, 2)}\n`);
    return { path, ...made };
  } catch (cause) {
    const why = reasonOf(cause);
    throw new CliError({
      code: 'plugin_invalid',
      message: `no manifest of ${root}: ${why}`,
      cause,
    });
  }
}

async function writeOclif(root: string): Promise<WrittenManifest> {
  const { Plugin } = await import('@oclif/core');
  const path = join(root, 'oclif.manifest.json');
  const plugin = new Plugin({ root, ignoreManifest: true, errorOnManifestCreate: true });
  await plugin.load();
  const text = JSON.stringify(plugin.manifest, null, 2);
  const { commands, version } = toPluginCommands(JSON.parse(text));
  await writeFile(path, `${text}\n`);
  return { path, version, commands };
}

/** The author's own copy of the package stays. */
async function linkUnlessInstalled(root: string): Promise<void> {
  const place = join(root, 'node_modules', 'agent-gateway');
  const isLink = (await readlink(place).catch(() => undefined)) !== undefined;
  const isThere = (await stat(place).catch(() => undefined)) !== undefined;
  if (isLink || !isThere) await linkGateway(root);
}
