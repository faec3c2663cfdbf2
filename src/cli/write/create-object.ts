import { findDeclared } from '../../config/actual/actual.ts';
import { ownerName } from '../../config/actual/ownership.ts';
import type { DesiredObject, DesiredState } from '../../config/objects/desired.ts';
import type { ReferenceSources } from '../../config/objects/references.ts';
import type { KindName } from '../../config/objects/kinds.ts';
import { checkDangling, takenSlugs } from '../../config/plan/check-online.ts';
import { planCreation } from '../../config/plan/plan-object.ts';
import { oneLine } from '../../core/printable.ts';
import { CliError, usageError } from '../cli-error.ts';
import { shownName, type CommandResult } from '../command.ts';
import type { CommandContext } from '../context.ts';
import { collectionOf } from '../../core/kinds.ts';
import { toResourceClient } from '../resources/admin-resources.ts';
import { wordOf } from '../resources/not-found.ts';
import { changeEntry, type ChangedEntry, type WriteInput } from './change-entry.ts';
import { slugTaken } from './slug-taken.ts';
import {
  invalidObject,
  loadEntry,
  readAround,
  readOnce,
  toDocument,
  writeObject,
} from './write-object.ts';

interface CreateInput extends WriteInput {
  readonly args: { readonly name: string | undefined };
}

/** Makes an object of a kind from the words of the command line; with -o yaml declares it instead. */
export function createObject(kind: KindName): (input: CreateInput) => Promise<CommandResult> {
  return async (input) => {
    const { name } = input.args;
    if (name !== undefined && input.loaded['name'] !== undefined)
      throw usageError('the name is given twice');
    const start = name === undefined ? {} : { name };
    const changed = await changeEntry({ kind, verb: 'create', entry: start }, input);
    const { entry } = changed;
    if (entry['name'] === undefined) throw nameless(kind);
    if (name !== undefined && entry['name'] !== name)
      throw usageError(`the argument names ${name}, the file names another`);
    return createEntry(kind, changed, input.context);
  };
}

/** Judges an entry as a file that declares it, and makes it; with -o yaml gives the declaration. */
export async function createEntry(
  kind: KindName,
  changed: ChangedEntry,
  context: CommandContext,
): Promise<CommandResult> {
  const { desired, diagnostics, sources } = await loadEntry(kind, changed, context);
  const object = desired?.objects[0];
  if (desired === undefined || object === undefined)
    return invalidObject(kind, diagnostics, context);
  if (context.format === 'yaml') return { data: toDocument(kind, changed.entry) };
  return makeObject(object, { desired, sources }, context);
}

async function makeObject(
  object: DesiredObject,
  { desired, sources }: { desired: DesiredState; sources: ReferenceSources },
  context: CommandContext,
): Promise<CommandResult> {
  const { kind } = object;
  const client = await context.connect();
  const resources = readOnce(toResourceClient(client));
  const actual = await readAround(resources, desired, object.body);
  const [there] = findDeclared(object, actual).filter(
    (view) => (view['archived_at'] ?? null) === null,
  );
  if (there !== undefined) throw exists(object, `${there.id}, of ${ownerName(there)}`);
  const dangling = checkDangling({ desired, actual });
  if (dangling.length > 0) return invalidObject(kind, dangling, context);
  const [taken] = takenSlugs({ desired, actual });
  if (taken !== undefined) throw slugTaken(taken);
  const written = await writeObject(
    { planned: planCreation(object), object, actual, resources, sources },
    context,
  );
  if ('faults' in written) return invalidObject(kind, written.faults, context);
  const { view } = written;
  const called = `${wordOf(collectionOf(kind))} ${oneLine(String(view['name']))} (${view.id})`;
  return { data: view, text: `${called} is created` };
}

function nameless(kind: KindName): CliError {
  const command = shownName(`${collectionOf(kind)} create`);
  return usageError(`the ${wordOf(collectionOf(kind))} needs a name`, `gateway ${command} NAME`);
}

function exists({ kind, name }: DesiredObject, what: string): CliError {
  const command = shownName(`${collectionOf(kind)} update`);
  return new CliError({
    code: 'name_taken',
    message: oneLine(`${wordOf(collectionOf(kind))} ${name} exists already (${what})`),
    hint: oneLine(`\`gateway ${command} ${name}\` changes it`),
    exit: 'conflict',
  });
}
