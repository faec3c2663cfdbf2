import { mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { renderInit, TEMPLATES } from '../../../config/read/init-template.ts';
import type { FoundKey } from '../../../config/read/vendor-keys.ts';
import { findVendorKeys, vendorVariables } from '../../../config/read/vendor-keys.ts';
import { PROVIDERS } from '../../../providers/registry.ts';
import { CliError, usageError } from '../../cli-error.ts';
import type { InputOf, RunOf } from '../../commands.ts';

/** Port of the template, to which no vendor may lead back. */
const DEFAULT_PORT = 8787;
/** Generated from the schema of this version, so there is nothing of the user's in it. */
const GENERATED = '.gateway/schema.json';

export const run: RunOf<'init'> = async (input) => {
  const { args, flags, context } = input;
  const { cwd } = context.io;
  const template = templateOf(input);
  const foundEnvKeys = template === 'env' ? lookForKeys(input) : [];
  const directory = resolve(cwd, args.dir ?? '.');
  const files = await renderInit({ template, foundEnvKeys });
  if (!flags.force) await refuseExisting(directory, Object.keys(files));
  for (const [path, text] of Object.entries(files)) {
    const target = join(directory, path);
    await mkdir(dirname(target), { recursive: true });
    // Exclusive, in case the file appeared since the check.
    await writeFile(target, text, { flag: flags.force || path === GENERATED ? 'w' : 'wx' });
  }
  const written = Object.keys(files).sort();
  const place = relative(cwd, directory) || '.';
  const next = template === 'plugin' ? 'npm test' : 'gateway start';
  context.output.note(`next: ${place === '.' ? next : `cd ${place} && ${next}`}`);
  return {
    data: {
      directory,
      template,
      files: written,
      vendors: foundEnvKeys.map(({ provider }) => provider),
    },
    text: written.map((path) => `wrote ${join(place, path)}`).join('\n'),
  };
};

/** Finds the keys of vendors, and reports the variables that were searched. */
function lookForKeys({ context }: InputOf<'init'>): readonly FoundKey[] {
  const definitions = [...PROVIDERS.values()];
  const { found } = findVendorKeys(context.io.env, definitions, DEFAULT_PORT);
  const lookedFor = `looked for ${vendorVariables(definitions).join(', ')}`;
  if (found.length === 0)
    context.output.warn(`found no API key of a known vendor in the environment; ${lookedFor}`);
  else context.output.note(lookedFor);
  return found;
}

function templateOf({ flags }: InputOf<'init'>): (typeof TEMPLATES)[number] {
  const name = flags.template;
  const template = TEMPLATES.find((known) => known === name);
  if (template === undefined) throw usageError(`there is no template "${name}"`);
  return template;
}

async function refuseExisting(directory: string, paths: readonly string[]): Promise<void> {
  const existing: string[] = [];
  for (const path of paths) {
    if (path === GENERATED) continue;
    const found = await stat(join(directory, path)).catch(() => undefined);
    if (found !== undefined) existing.push(path);
  }
  if (existing.length === 0) return;
  throw new CliError({
    code: 'file_exists',
    message: `${existing.join(', ')} ${existing.length === 1 ? 'exists' : 'exist'} in ${directory}`,
    hint: 'choose another directory, or --force to overwrite',
  });
}
