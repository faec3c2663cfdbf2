import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { readActual } from '../../../config/apply/apply.ts';
import {
  dump,
  type DumpedTree,
  readKinds,
  SeveralNamespacesError,
} from '../../../config/actual/dump.ts';
import { CONFIG_KINDS } from '../../../config/objects/kinds.ts';
import { onlyHere } from '../../../config/actual/pinned.ts';
import { toResourceClient } from '../../resources/admin-resources.ts';
import { withFiles, writeSkillFiles } from '../../project/dumped-files.ts';
import { CliError, usageError } from '../../cli-error.ts';
import type { CommandRun } from '../../command.ts';

export const run: CommandRun = async ({ flags, context }) => {
  const words = flags.list('kind').flatMap((word) => word.split(','));
  const kinds = words.length === 0 ? undefined : readKinds(words);
  if (words.length > 0 && kinds === undefined) {
    const known = CONFIG_KINDS.map(({ kind }) => kind).join(', ');
    throw usageError(`--kind ${words.join(',')}: unknown kind`, `known: ${known}`);
  }
  const client = await context.connect();
  const managed = new Set(CONFIG_KINDS.map(({ kind }) => kind));
  const read = await readActual(toResourceClient(client), { managed, objects: [] });
  const hasSkills = kinds?.has('skill') ?? true;
  const skill = hasSkills ? await withFiles(read.skill, client, context.signal) : read.skill;
  const actual = { ...read, skill };
  const tree = dumped(() =>
    dump({
      actual,
      kinds,
      namespace: flags.text('namespace'),
      skipDefaults: flags.on('skip-defaults'),
    }),
  );
  for (const gap of onlyHere(tree)) context.output.warn(gap);
  const directory = flags.text('split');
  if (directory === undefined) return { data: tree, text: toYaml(tree), verbatim: true };
  const files = await writeSplit(tree, resolve(context.io.cwd, directory), flags.on('force'));
  return {
    data: { directory, files },
    text: files.map((file) => `wrote ${join(directory, file)}`).join('\n'),
  };
};

function dumped(make: () => DumpedTree): DumpedTree {
  try {
    return make();
  } catch (thrown) {
    if (!(thrown instanceof SeveralNamespacesError)) throw thrown;
    throw new CliError({
      code: 'several_namespaces',
      message: thrown.message,
      hint: `choose one: --namespace ${thrown.namespaces[0]}`,
      exit: 'conflict',
      cause: thrown,
    });
  }
}

/** One file for each section, and the files of Skills; what all share stands in each. */
async function writeSplit(tree: DumpedTree, directory: string, force: boolean): Promise<string[]> {
  const { version, namespace, ...sections } = tree;
  const head = { version, ...(namespace !== undefined && { namespace }) };
  const files = Object.keys(sections).map((section) => `${section}.yaml`);
  await mkdir(directory, { recursive: true });
  const wanted = 'skills' in sections ? [...files, 'skills'] : files;
  for (const file of force ? [] : wanted) await refuseExisting(directory, file);
  const taken = await writeSkillFiles(sections, directory);
  for (const [section, entries] of Object.entries(taken.tree)) {
    const text = toYaml({ ...head, [section]: entries });
    await writeFile(join(directory, `${section}.yaml`), `${text}\n`);
  }
  return [...files, ...taken.files];
}

async function refuseExisting(directory: string, file: string): Promise<void> {
  if ((await stat(join(directory, file)).catch(() => undefined)) === undefined) return;
  throw new CliError({
    code: 'file_exists',
    message: `${file} exists in ${directory}`,
    hint: 'choose another directory, or --force to overwrite',
  });
}

function toYaml(tree: DumpedTree): string {
  return stringify(tree, { aliasDuplicateObjects: false, lineWidth: 100 }).trimEnd();
}
