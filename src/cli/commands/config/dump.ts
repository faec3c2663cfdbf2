import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { readActual } from '../../../config/apply/apply.ts';
import type { DumpedTree } from '../../../config/actual/pinned.ts';
import {
  dump,
  namespacesIn,
  readKinds,
  SeveralNamespacesError,
} from '../../../config/actual/dump.ts';
import { namespacesById } from '../../../config/actual/inventory.ts';
import { CONFIG_KINDS, type KindName } from '../../../config/objects/kinds.ts';
import { onlyHere } from '../../../config/actual/pinned.ts';
import { toResourceClient } from '../../resources/admin-resources.ts';
import { withFiles, writeSkillFiles } from '../../project/dumped-files.ts';
import { CliError, usageError } from '../../cli-error.ts';
import type { InputOf, RunOf } from '../../commands.ts';

export const run: RunOf<'dump'> = async ({ flags, context }) => {
  const kinds = chosenKinds(flags);
  const directory = flags.split;
  refuseMixed(flags);
  const client = await context.connect();
  const managed = new Set(CONFIG_KINDS.map(({ kind }) => kind));
  const resources = toResourceClient(client);
  const [read, inventories] = await Promise.all([
    readActual(resources, { managed, objects: [] }),
    resources.inventories?.list(),
  ]);
  const hasSkills = kinds?.has('skill') ?? true;
  const skill = hasSkills ? await withFiles(read.skill, client, context.signal) : read.skill;
  const actual = { ...read, skill };
  const known = namespacesById(inventories ?? []);
  const treeOf = (namespace: string | undefined) => {
    const skipDefaults = flags['skip-defaults'];
    const tree = dumped(() => dump({ actual, kinds, namespace, known, skipDefaults }));
    for (const gap of onlyHere(tree)) context.output.warn(gap);
    return tree;
  };
  const isWhole = flags['all-namespaces'];
  if (directory === undefined) {
    const tree = treeOf(flags.namespace);
    return { data: tree, text: toYaml(tree), verbatim: true };
  }
  const trees = isWhole
    ? namespacesIn(actual, known).map((name) => ({ below: name, tree: treeOf(name) }))
    : [{ below: '', tree: treeOf(flags.namespace) }];
  const place = { directory: resolve(context.io.cwd, directory), force: flags.force };
  const files = await writeTrees(trees, place);
  return {
    data: { directory, files },
    text: files.map((file) => `wrote ${join(directory, file)}`).join('\n'),
  };
};

function chosenKinds(flags: InputOf<'dump'>['flags']): ReadonlySet<KindName> | undefined {
  const words = flags.kind.flatMap((word) => word.split(','));
  const kinds = words.length === 0 ? undefined : readKinds(words);
  if (words.length === 0 || kinds !== undefined) return kinds;
  const known = CONFIG_KINDS.map(({ kind }) => kind).join(', ');
  throw usageError(`--kind ${words.join(',')}: unknown kind`, `known: ${known}`);
}

/** Files have one namespace each, so those of all need a directory for each. */
function refuseMixed(flags: InputOf<'dump'>['flags']): void {
  if (!flags['all-namespaces']) return;
  if (flags.split === undefined) {
    const hint = 'add --split DIR: each namespace gets a directory below it';
    throw usageError('--all-namespaces without --split', hint);
  }
}

interface SplitTree {
  tree: DumpedTree;
  /** Directory for it below the one that was named; '' is that one. */
  below: string;
}

async function writeTrees(
  trees: readonly SplitTree[],
  { directory, force }: { directory: string; force: boolean },
): Promise<string[]> {
  const filesOf = ({ tree }: SplitTree) => {
    const { version: _version, namespace: _namespace, ...sections } = tree;
    const files = Object.keys(sections).map((section) => `${section}.yaml`);
    return 'skills' in sections ? [...files, 'skills'] : files;
  };
  // Nothing is written when something would be overwritten.
  for (const one of force ? [] : trees) {
    for (const file of filesOf(one)) await refuseExisting(directory, join(one.below, file));
  }
  const written: string[] = [];
  for (const { below, tree } of trees) {
    const files = await writeSplit(tree, join(directory, below));
    written.push(...files.map((file) => join(below, file)));
  }
  return written;
}

function dumped(make: () => DumpedTree): DumpedTree {
  try {
    return make();
  } catch (thrown) {
    if (!(thrown instanceof SeveralNamespacesError)) throw thrown;
    throw new CliError({
      code: 'several_namespaces',
      message: thrown.message,
      hint: `choose one: --namespace ${thrown.namespaces[0]}; or write all: --all-namespaces --split DIR`,
      exit: 'conflict',
      cause: thrown,
    });
  }
}

/** One file for each section, with the common members in each, and the files of Skills. */
async function writeSplit(tree: DumpedTree, directory: string): Promise<string[]> {
  const { version, namespace, ...sections } = tree;
  const head = { version, ...(namespace !== undefined && { namespace }) };
  const files = Object.keys(sections).map((section) => `${section}.yaml`);
  await mkdir(directory, { recursive: true });
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
