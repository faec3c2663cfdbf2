import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { renderInit, TEMPLATES } from '../../../config/read/init-template.ts';
import { environmentConfig } from '../../../config/read/environment-config.ts';
import { nodeConfigFiles } from '../../../config/read/load.ts';
import type { FoundKey } from '../../../config/read/vendor-keys.ts';
import { hasErrors } from '../../../config/source/diagnostic.ts';
import { CliError, usageError } from '../../cli-error.ts';
import type { CommandResult } from '../../command.ts';
import type { InputOf, RunOf } from '../../commands.ts';
import { invalidConfig, readsEnvFile } from '../../project/project.ts';

/** Generated from the schema of this version, so there is nothing of the user's in it. */
const GENERATED = '.gateway/schema.json';

export const run: RunOf<'init'> = async (input) => {
  const { args, flags, context } = input;
  const { cwd } = context.io;
  const template = templateOf(input);
  const directory = resolve(cwd, args.dir ?? '.');
  if (template === 'plugin' && args.dir === undefined) await refuseFilled(directory);
  const { found: foundEnvKeys, invalid } = await keysFor(directory, input);
  if (invalid) return invalid;
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
  return {
    data: {
      directory,
      template,
      files: written,
      vendors: foundEnvKeys.map(({ provider }) => provider),
    },
    text: [
      ...written.map((path) => `wrote ${join(place, path)}`),
      `next: ${place === '.' ? next : `cd ${place} && ${next}`}`,
    ].join('\n'),
  };
};

/**
 * The keys of vendors in the environment or in the `.env` of the folder, for the template that has them.
 * Throws `no_vendor_key` (exit 1) where there is none: the file would serve the mock only.
 */
async function keysFor(
  directory: string,
  { flags, context }: InputOf<'init'>,
): Promise<{ found: readonly FoundKey[]; invalid?: CommandResult }> {
  if (flags.template !== 'env') return { found: [] };
  const { env } = context.io;
  const envFile = readsEnvFile(context.globals);
  const given = await environmentConfig({ env, cwd: directory, files: nodeConfigFiles, envFile });
  const { found, leftOut, lookedFor, envFile: file } = given;
  if (hasErrors(file.diagnostics)) return { found, invalid: invalidConfig(file.diagnostics) };
  for (const { provider, because } of leftOut)
    context.output.warn(`${provider} is left out: ${because}`);
  const place = file.path === undefined ? 'the environment' : `the environment or ${file.path}`;
  const searched = `looked for ${lookedFor.join(', ')} in ${place}`;
  if (found.length === 0) {
    throw new CliError({
      code: 'no_vendor_key',
      message: 'there is no key of a vendor, so nothing was written',
      hint: `set one of them, or write a file that runs offline with \`gateway init\`; ${searched}`,
    });
  }
  const named = found.map(({ provider, variable }) => `${provider} with ${variable}`);
  context.output.note(`found ${named.join(', ')}; ${searched}`);
  return { found };
}

/** Keeps the many files of a package out of a folder that has others. */
async function refuseFilled(directory: string): Promise<void> {
  const names = await readdir(directory).catch(() => []);
  if (names.every((name) => name === '.git')) return;
  throw usageError(
    'this folder has files, so the plugin needs a folder of its own',
    '`gateway init --template plugin NAME` makes one; `.` as the name writes here',
  );
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
