import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import type { CommandSpec } from '../command.ts';
import type { PluginCommand } from './installed-plugin.ts';
import {
  ARG_NAME,
  refuseGlobal,
  text,
  texts,
  word,
  type ReadManifest,
} from './to-plugin-commands.ts';

/** Name of the manifest of a plugin that declares its commands as the binary does. */
export const MANIFEST = 'gateway.manifest.json';

const ARG = z.strictObject({
  name: z.string().regex(ARG_NAME),
  description: text,
  required: z.boolean().optional(),
  variadic: z.boolean().optional(),
});
const FLAG = z.strictObject({
  name: word,
  short: z.string().length(1).optional(),
  type: z.enum(['boolean', 'string', 'integer', 'duration']),
  value: text.optional(),
  env: z.templateLiteral(['GATEWAY_', z.string().regex(/^[A-Z0-9_]+$/)]).optional(),
  default: text.or(z.number()).optional(),
  choices: texts.optional(),
  offers: texts.optional(),
  repeatable: z.boolean().optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  description: text,
});
const COMMAND = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]*( [a-z0-9][a-z0-9-]*)*$/, 'is not a valid command name'),
  aliases: z.array(word).optional(),
  summary: text,
  description: text.optional(),
  examples: z.array(z.strictObject({ command: text, note: text })),
  args: z.array(ARG).optional(),
  flags: z.array(FLAG).optional(),
  hidden: z.boolean().optional(),
  formats: texts.optional(),
  ownsSignals: z.boolean().optional(),
  output: z.record(z.string(), z.unknown()),
});
const DECLARED = z.object({ version: text, commands: z.array(COMMAND).min(1) });
const PACKAGE = z.object({
  version: text,
  gateway: z.object({ commands: z.string() }).optional(),
});

/** Path of the module that exports the declared commands as `commands`; undefined: the package has none. */
export async function commandsModule(root: string): Promise<string | undefined> {
  const { gateway } = await readPackage(root);
  return gateway && join(root, gateway.commands);
}

/** The commands that a package declares, which is loaded for it. */
export async function loadDeclared(path: string): Promise<readonly CommandSpec[]> {
  const { commands } = (await import(pathToFileURL(path).href)) as { commands?: unknown };
  if (!Array.isArray(commands)) throw new Error(`${path} exports no list called \`commands\``);
  return commands as readonly CommandSpec[];
}

/** The manifest of a package, whose commands are loaded for it. */
export async function toDeclaredManifest(root: string, path: string): Promise<ReadManifest> {
  const { version } = await readPackage(root);
  const commands = (await loadDeclared(path)).map(({ load, ...declared }) => {
    if (load === undefined) throw new Error(`"${declared.name}" has no code`);
    return declared;
  });
  return readDeclaredManifest({ version, commands });
}

/** The commands of a `gateway.manifest.json`; throws an `Error` that describes the fault. */
export function readDeclaredManifest(manifest: unknown): ReadManifest {
  const parsed = DECLARED.safeParse(manifest);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`${issue?.path.join('.')}: ${issue?.message}`);
  }
  const { version, commands } = parsed.data;
  for (const { name, flags = [] } of commands)
    for (const flag of flags) refuseGlobal({ name: flag.name, short: flag.short }, name);
  const sorted: PluginCommand[] = commands.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return { version, commands: sorted };
}

async function readPackage(root: string): Promise<z.infer<typeof PACKAGE>> {
  return PACKAGE.parse(JSON.parse(await readFile(join(root, 'package.json'), 'utf8')));
}
