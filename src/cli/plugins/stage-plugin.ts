import { reasonOf } from '../../core/errors.ts';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { CliError } from '../cli-error.ts';
import type { CommandContext } from '../context.ts';
import { commandsModule, MANIFEST, readDeclaredManifest } from './declared-commands.ts';
import type { InstalledPlugin } from './installed-plugin.ts';
import { packageOf } from './plugin-place.ts';
import { runNpm } from './run-npm.ts';
import { toPluginCommands } from './to-plugin-commands.ts';

const PACKED = z.tuple([
  z.object({ name: z.string(), version: z.string(), filename: z.string(), integrity: z.string() }),
]);

export interface Staging {
  /** An empty folder. */
  folder: string;
  source: string;
  context: CommandContext;
}

/**
 * Fetches a plugin with its dependencies into a folder and reads its declaration. Runs no code of
 * any package. Throws `plugin_invalid` for a package that is no plugin.
 */
export async function stagePlugin({ folder, source, context }: Staging): Promise<InstalledPlugin> {
  const npm = (...args: string[]) => runNpm(args, { cwd: folder, context });
  const packed = PACKED.parse(
    JSON.parse(await npm('pack', source, '--json', '--pack-destination', folder)),
  );
  const [{ name, version, filename, integrity }] = packed;
  // npm packs a scoped package as scope-name, and some versions say @scope/name.
  const tarball = join(folder, filename.replace(/^@/, '').replaceAll('/', '-'));
  await writeFile(join(folder, 'package.json'), '{"private":true}\n');
  // The gateway is linked in, so it must not be fetched as what the plugin says it goes with.
  await npm('install', tarball, '--omit=dev', '--legacy-peer-deps', '--save-exact');
  await rm(tarball);
  const root = packageOf(folder, name);
  const commands = await readManifest(root, { name, version });
  return { name, version, source, integrity, commands, topics: await readTopics(root) };
}

const TOPIC = z.object({
  description: z.string().max(4_000).optional(),
  get subtopics() {
    return z.record(z.string(), TOPIC).optional();
  },
});
const TOPICS = z.object({ oclif: z.object({ topics: z.record(z.string(), TOPIC) }) });

/** Summaries of groups, as `package.json` declares them; none if it declares no valid topics. */
async function readTopics(root: string): Promise<Record<string, string>> {
  const text = await readFile(join(root, 'package.json'), 'utf8');
  const parsed = TOPICS.safeParse(JSON.parse(text));
  return parsed.success ? toSummaries(parsed.data.oclif.topics) : {};
}

function toSummaries(topics: Readonly<Record<string, z.infer<typeof TOPIC>>>, above = '') {
  const summaries: Record<string, string> = {};
  for (const [word, { description, subtopics }] of Object.entries(topics)) {
    const name = `${above}${word.replaceAll(':', ' ')}`;
    if (description !== undefined) summaries[name] = description.split('\n')[0] ?? '';
    Object.assign(summaries, toSummaries(subtopics ?? {}, `${name} `));
  }
  return summaries;
}

async function readManifest(
  root: string,
  { name, version }: { name: string; version: string },
): Promise<InstalledPlugin['commands']> {
  const invalid = (message: string, cause?: unknown) =>
    new CliError({ code: 'plugin_invalid', message, cause, hint: HINT });
  const isDeclared = (await commandsModule(root)) !== undefined;
  const file = isDeclared ? MANIFEST : 'oclif.manifest.json';
  const text = await readFile(join(root, file), 'utf8').catch(() => undefined);
  if (text === undefined) throw invalid(`${name} is not a plugin: it has no ${file}`);
  try {
    const manifest = (isDeclared ? readDeclaredManifest : toPluginCommands)(JSON.parse(text));
    if (manifest.version === version) return manifest.commands;
  } catch (cause) {
    const why = reasonOf(cause);
    throw invalid(`the ${file} of ${name} is wrong: ${why}`, cause);
  }
  throw invalid(`the ${file} of ${name} is not of version ${version}`);
}

const HINT = 'its author makes the file with `gateway plugins manifest` before packing';
