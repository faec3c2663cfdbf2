import type { View } from '../../config/actual/actual.ts';
import { declareObject } from '../../config/actual/dump.ts';
import type { InventoryEntry } from '../../config/actual/inventory.ts';
import { labelsOf, NAMESPACE_LABEL } from '../../config/actual/ownership.ts';
import type { ResourceClient } from '../../config/actual/resource-client.ts';
import type { DesiredObject } from '../../config/objects/desired.ts';
import type { ReferenceSources } from '../../config/objects/references.ts';
import { kindOf, type KindName } from '../../config/objects/kinds.ts';
import { checkDangling, takenSlugs } from '../../config/plan/check-online.ts';
import type { PlanAction } from '../../config/plan/plan-action.ts';
import { planComparison } from '../../config/plan/plan-object.ts';
import { resetChanges } from '../../config/plan/reset.ts';
import { secretAt, withoutSecrets } from '../../resources/fields/secret-path.ts';
import { oneLine } from '../../core/printable.ts';
import { CliError, usageError } from '../cli-error.ts';
import type { CommandContext } from '../context.ts';
import { shownName, type CommandResult } from '../command.ts';
import type { FlagValues } from '../grammar/flags.ts';
import type { FlagInput } from '../command-input.ts';
import { collectionOf } from '../../core/kinds.ts';
import { toResourceClient } from '../resources/admin-resources.ts';
import { findResource } from '../resources/find-resource.ts';
import { wordOf } from '../resources/not-found.ts';
import { refuseOwnedBy } from '../resources/refuse-owned.ts';
import type { FORCE } from '../tables/shared-words.ts';
import type { CHANGES } from '../tables/write-commands.ts';
import { changeEntry, type ChangedEntry, type Entry, type WriteInput } from './change-entry.ts';
import { slugTaken } from './slug-taken.ts';
import {
  invalidObject,
  loadEntry,
  readAround,
  readOnce,
  toDocument,
  writeObject,
} from './write-object.ts';

/** An empty owner: a change by hand keeps the owner of the object. */
const NOBODY = { label: NAMESPACE_LABEL, value: '' } as const;

/** An object that exists. */
interface Found {
  readonly kind: KindName;
  readonly view: View;
  /** Kind, name and id. */
  readonly called: string;
  readonly resources: ResourceClient;
}

/** Makes the changed declaration of the object from its current one. */
type MakeChange<I> = (before: Entry, input: I) => Promise<ChangedEntry>;

interface UpdateInput extends FlagInput<readonly [typeof FORCE]> {
  readonly args: { readonly id: string };
}

/** Input of `update` where the flags follow from the kind. */
type WordsInput = UpdateInput & WriteInput & { readonly flags: FlagValues<typeof CHANGES> };

/** Changes an object of a kind by the flags that follow from it, as {@link updateObject} does. */
export function updateByWords(kind: KindName): (input: WordsInput) => Promise<CommandResult> {
  return updateObject(kind, (entry, input) =>
    changeEntry({ kind, verb: 'update', entry, cleared: input.flags.clear }, input),
  );
}

/**
 * Changes an object of a kind by the words of the command line: unnamed fields stay as they are.
 * With -o yaml prints the changed declaration instead.
 */
export function updateObject<I extends UpdateInput>(
  kind: KindName,
  make: MakeChange<I>,
): (input: I) => Promise<CommandResult> {
  return async (input) => {
    const { flags, context } = input;
    const isYaml = context.format === 'yaml';
    const found = await findObject(kind, input);
    const { view, resources, called } = found;
    const itself = { managed: new Set([kind]), objects: [] };
    const before = declareObject(kind, view, await readAround(resources, itself, view));
    const changed = await make(before, input);
    if (changed.given.size === 0 && !isYaml) throw nothingToDo(kind);
    if (!isYaml) await refuseOwnedBy(resources, view, { called, force: flags.force });
    const { desired, diagnostics, sources } = await loadEntry(kind, changed, context);
    const declared = desired?.objects[0];
    if (declared === undefined) return invalidObject(kind, diagnostics, context);
    if (isYaml) return { data: toDocument(kind, changed.entry) };
    const object = withoutOtherSecrets({ ...declared, id: view.id }, changed.given);
    return changeTo(object, { found, given: changed.given, sources }, context);
  };
}

async function findObject(kind: KindName, { args, context }: UpdateInput): Promise<Found> {
  const client = await context.connect();
  const resources = readOnce(toResourceClient(client));
  const sought = { kind: collectionOf(kind), named: args.id };
  const { id, name, ...rest } = await findResource(client, sought, context.signal);
  const called = `${wordOf(collectionOf(kind))} ${oneLine(name)} (${id})`;
  const view = (await resources.list(kind)).find((one) => one.id === id);
  const revoked = rest['revoked_at'] ?? null;
  const ended = revoked ?? rest['archived_at'] ?? null;
  if (view !== undefined && ended === null) return { kind, view, called, resources };
  throw new CliError({
    code: revoked === null ? 'archived' : 'key_revoked',
    message: `${called} is ${revoked === null ? 'archived' : 'revoked'} and cannot be changed`,
    hint: `\`gateway ${shownName(`${collectionOf(kind)} create`)}\` makes a new one`,
    exit: 'conflict',
  });
}

async function changeTo(
  object: DesiredObject,
  {
    found,
    given,
    sources,
  }: { found: Found; given: ReadonlySet<string>; sources: ReferenceSources },
  context: CommandContext,
): Promise<CommandResult> {
  const { kind, view, called, resources } = found;
  const desired = { namespace: '', managed: new Set([kind]), objects: [object], moved: [] };
  const actual = await readAround(resources, desired, object.body);
  const dangling = checkDangling({ desired, actual });
  if (dangling.length > 0) return invalidObject(kind, dangling, context);
  const [taken] = takenSlugs({ desired, actual });
  if (taken !== undefined) throw slugTaken(taken);
  const planned = toAction(object, { view, actual, given });
  refuseFixed(object, { view, planned, given, called });
  if (planned.changes.length === 0) return { data: view, text: `${called} is so already` };
  const written = await writeObject({ planned, object, actual, resources, sources }, context);
  if ('faults' in written) return invalidObject(kind, written.faults, context);
  return { data: written.view, text: `${called} is changed` };
}

/** The update that makes the object as declared; cleared fields go to their defaults. */
function toAction(
  object: DesiredObject,
  { view, actual, given }: Pick<Parameters<typeof planComparison>[2], 'actual'> & Change,
): PlanAction {
  const { kind, identity } = object;
  const { secrets } = kindOf(kind);
  const written = secrets.filter((field) => given.has(field));
  const planned = planComparison(object, view, {
    actual,
    owner: NOBODY,
    writeSecrets: new Set(written.map((field) => `${kind}/${identity}#${field}`)),
    adopt: false,
    mayReplace: false,
  });
  const resets = resetChanges(object, view, clearedOf(object, { view, given }));
  const changes = [...planned.changes, ...resets];
  return { ...planned, action: changes.length > 0 ? 'update' : 'none', changes };
}

interface Change {
  readonly view: View;
  readonly given: ReadonlySet<string>;
}

/** Fields and labels that were taken away, in the form of what a namespace once declared. */
function clearedOf(object: DesiredObject, { view, given }: Change): InventoryEntry {
  const { kind, identity, body, labels } = object;
  const fields = [...given].filter((path) => !path.includes('.') && !(path in body));
  const gone = Object.keys(labelsOf(view))
    .filter((name) => given.has('labels') && !name.startsWith('gateway/') && !(name in labels))
    .map((name) => `labels:${encodeURIComponent(name)}`);
  return { kind, identity, id: view.id, fields: [...fields, ...gone].join(' ') };
}

/** Removes secrets that were not given, so that only given ones need a value and are written. */
function withoutOtherSecrets(object: DesiredObject, given: ReadonlySet<string>): DesiredObject {
  const { secrets } = kindOf(object.kind);
  const others = secrets.filter((path) => !given.has(path));
  return { ...object, body: withoutSecrets(object.body, others) };
}

/** Throws `immutable_field` (exit 5) for what no update changes. */
function refuseFixed(
  { kind, body }: DesiredObject,
  { view, planned, given, called }: Change & { planned: PlanAction; called: string },
): void {
  const { isFixed, secrets } = kindOf(kind);
  const changed = new Set(planned.changes.map(({ field }) => field));
  for (const field of secrets)
    if (given.has(field) && secretAt(body, field) !== undefined) changed.add(field);
  const fixed = [...changed].filter((field) => isFixed(field, view));
  if (fixed.length === 0) return;
  throw new CliError({
    code: 'immutable_field',
    message: `${called}: ${fixed.join(', ')} cannot be changed`,
    hint:
      kind === 'key' && fixed.includes('value')
        ? '`gateway keys rotate` gives it a new value'
        : 'make a new one under another name',
    exit: 'conflict',
  });
}

function nothingToDo(kind: KindName): CliError {
  const command = shownName(`${collectionOf(kind)} update`);
  return usageError('nothing to change', `gateway ${command} --help lists the flags`);
}
