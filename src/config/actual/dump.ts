import { type ActualState, createFinder, identityOf, isAlive, type View } from './actual.ts';
import { comparableField, OPAQUE_FIELDS, viewField } from './changes.ts';
import { CHAT_WEBHOOK } from '../../resources/kinds/deployment.ts';
import {
  CONFIG_KINDS,
  type ConfigKind,
  kindNamed,
  kindOf,
  type KindName,
} from '../objects/kinds.ts';
import { fieldOf, signalOf, withSecret } from '../../resources/fields/secret-path.ts';
import {
  labelsOf,
  NAMESPACE_LABEL,
  namespaceOf,
  type Owner,
  PROTECTED_LABEL,
  PRUNE_LABEL,
} from './ownership.ts';
import { nameSecrets, type Secret, type SecretNames } from './name-secrets.ts';
import { withoutLatest } from './pinned.ts';
import type { DumpedTree } from './pinned.ts';
import { canonicalJson, isRecord } from '../objects/record.ts';

export interface DumpOptions {
  readonly actual: ActualState;
  /** Kinds that are written. Default: all. */
  readonly kinds?: ReadonlySet<KindName> | undefined;
  /** Namespace whose resources are written. Default: everything, under the one namespace that there is. */
  readonly namespace?: string | undefined;
  /** Namespaces by the ids of objects, as inventories know them. Default: labels decide. */
  readonly known?: Owner['known'];
  /** Leaves out fields that are at their default. */
  readonly skipDefaults?: boolean | undefined;
}

/** One configuration cannot hold objects of several namespaces. */
export class SeveralNamespacesError extends Error {
  override readonly name = 'SeveralNamespacesError';
  readonly namespaces: readonly string[];

  constructor(namespaces: readonly string[]) {
    super(`the objects belong to several namespaces: ${namespaces.join(', ')}`);
    this.namespaces = namespaces;
  }
}

/**
 * Declares the existing objects, so that a plan of them changes nothing: names for ids, references
 * for secrets, and no field that only the server decides (requirement cli.dump.round-trip). Ended
 * objects (revoked keys, archived Agents and Schedules) are left out.
 *
 * @throws SeveralNamespacesError
 */
export function dump(options: DumpOptions): DumpedTree {
  const { actual, kinds, namespace, known } = options;
  const chosen = CONFIG_KINDS.filter(({ kind }) => kinds?.has(kind) ?? true).map((one) => ({
    ...one,
    views: actual[one.kind].filter((view) => isAlive(view) && isOf(namespace, view, known)),
  }));
  const owner = namespace ?? onlyNamespace(chosen.flatMap(({ views }) => views));
  const entry = { ...options, ...namesOf(actual) };
  const sections = chosen
    .filter(({ views }) => views.length > 0)
    .map(({ collection, views, ...one }) => [
      collection,
      views.map((view) => toEntry({ ...one, collection }, view, entry)),
    ]);
  return {
    version: 1,
    ...(owner !== undefined && { namespace: owner }),
    ...(Object.fromEntries(sections) as DumpedTree),
  };
}

/** Declares one existing object without fields at their default; secrets are references by name. */
export function declareObject(
  kind: KindName,
  view: View,
  actual: ActualState,
): Record<string, unknown> {
  return toEntry(kindOf(kind), view, { actual, ...namesOf(actual), skipDefaults: true });
}

/** Fields that are said only where they are not at their default. */
const EXCEPTIONS: ReadonlySet<string> = new Set(['paused']);

/** Defaults of a field in which everything is the user's own. */
const KEEP_ALL: ReadonlyMap<string, string> = new Map();

interface EntryOptions extends DumpOptions {
  /** References in text, by id. */
  readonly references: ReadonlyMap<string, string>;
  /** Ids of objects whose names do not tell them apart. */
  readonly twins: ReadonlySet<string>;
  readonly secretNames: SecretNames;
}

function namesOf(actual: ActualState): Pick<EntryOptions, 'references' | 'twins' | 'secretNames'> {
  return {
    references: nameIds(actual),
    twins: twinIds(actual),
    secretNames: nameSecrets(actual),
  };
}

function toEntry(kind: ConfigKind, view: View, options: EntryOptions): Record<string, unknown> {
  const { definition, isOwned, secrets } = kind;
  const entry: Record<string, unknown> = { name: view['name'] };
  if (options.twins.has(view.id)) entry['id'] = view.id;
  const owner = isOwned ? ownerName(view, options.actual) : undefined;
  if (owner !== undefined) entry['organization'] = owner;
  for (const field of Object.keys(definition.fields.shape)) {
    if (['name', 'organization', 'labels'].includes(field)) continue;
    if (secrets.includes(field)) {
      if (view[signalOf(field)] === true)
        entry[field] = secretFor({ kind: kind.kind, view, field }, options);
      continue;
    }
    if (field === 'agent_version' && isFollowed(view, options)) continue;
    const shown = settable(kind, field, view[viewField(kind.kind, field)] ?? null);
    const value = withoutLatest(field, shown, options.actual);
    const isPlain = options.skipDefaults === true || EXCEPTIONS.has(field);
    if (value === null || (isPlain && isDefault(kind, view, field))) continue;
    const isOpaque = OPAQUE_FIELDS.has(field);
    entry[field] = declared(value, isOpaque ? KEEP_ALL : options.references);
    for (const path of secrets.filter((one) => fieldOf(one) === field)) {
      if (view[signalOf(path)] === true)
        Object.assign(
          entry,
          withSecret(entry, path, secretFor({ kind: kind.kind, view, field: path }, options)),
        );
    }
  }
  const labels = Object.entries(labelsOf(view)).filter(([name]) => !name.startsWith('gateway/'));
  if (labels.length > 0) entry['labels'] = declared(Object.fromEntries(labels), new Map());
  const lifecycle = lifecycleOf(view);
  return lifecycle === undefined ? entry : { ...entry, lifecycle };
}

function lifecycleOf(view: View): Record<string, unknown> | undefined {
  const labels = labelsOf(view);
  const lifecycle = {
    ...(labels[PROTECTED_LABEL] === 'true' && { protected: true }),
    ...(labels[PRUNE_LABEL] !== undefined && { prune: labels[PRUNE_LABEL] }),
  };
  return Object.keys(lifecycle).length > 0 ? lifecycle : undefined;
}

/** True when the field would be the same if it were not declared. */
function isDefault({ kind, definition }: ConfigKind, view: View, field: string): boolean {
  const object = { kind, name: String(view['name']) };
  const shown = view[viewField(kind, field)];
  const standard = definition.fields.shape[field]?.safeParse(undefined);
  if (standard?.success !== true) return false;
  const digest = (value: unknown) =>
    canonicalJson(comparableField(object, field, { value, view: shown }));
  return digest(standard.data) === digest(shown);
}

/** Declares a value: ids become references, other text is escaped. */
function declared(value: unknown, references: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') return references.get(value) ?? asDeclared(value);
  if (Array.isArray(value)) return value.map((member) => declared(member, references));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null || references === KEEP_ALL)
      .map(([key, member]) => [key, declared(member, references)]),
  );
}

/** A text as it is declared, so that nothing in it is a reference. */
export function asDeclared(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** A text of a dump as it was before it was declared. */
export function asWritten(text: string): string {
  return text.replaceAll('$${', () => '${');
}

/** `${ref:…}` by id, for objects that have a unique name without braces. */
function nameIds(actual: ActualState): ReadonlyMap<string, string> {
  const references = new Map<string, string>();
  for (const { kind } of CONFIG_KINDS) {
    const alive = actual[kind].filter(isAlive);
    for (const view of alive) {
      const { id, name, organization } = view;
      const alike = alive.filter(
        (one) => one['name'] === name && one['organization'] === organization,
      );
      const isPlain = typeof name === 'string' && !/[{}]/.test(name);
      if (alike.length === 1 && isPlain) references.set(id, `\${ref:${kind}.${name}.id}`);
    }
  }
  return references;
}

/** Ids of the objects of which there are several by one name. */
function twinIds(actual: ActualState): Set<string> {
  const find = createFinder();
  const twins = CONFIG_KINDS.flatMap(({ kind }) =>
    actual[kind].filter((view) => find(kind, identityOf(kind, view, actual), actual).length > 1),
  );
  return new Set(twins.map(({ id }) => id));
}

/** Namespaces that own something, by name. */
export function namespacesIn(actual: ActualState, known?: Owner['known']): string[] {
  const all = CONFIG_KINDS.flatMap(({ kind }) => actual[kind].filter(isAlive));
  return [...new Set(all.flatMap((view) => namespaceOf(view, known) ?? []))].sort();
}

/** Part of a shown value that may be declared; what the server adds to it is left out. */
function settable({ definition }: ConfigKind, field: string, value: unknown): unknown {
  if (!isRecord(value) || OPAQUE_FIELDS.has(field)) return value;
  const parsed = definition.fields.shape[field]?.safeParse(value);
  return parsed?.success === true ? parsed.data : value;
}

/** True at the newest version of its Agent, which a declaration without a version means. */
function isFollowed(
  { agent_id: id, agent_version: version }: View,
  { actual: { agent }, references }: Pick<EntryOptions, 'actual' | 'references'>,
): boolean {
  if (!references.has(String(id))) return false;
  const newest = agent.find((view) => view.id === id)?.version;
  return newest !== undefined && String(newest) === String(version);
}

function secretFor(secret: Secret, { secretNames }: EntryOptions): unknown {
  const reference = `\${secret:env:${secretNames(secret)}}`;
  return secret.field === CHAT_WEBHOOK ? { chat_webhook_url: reference } : reference;
}

function ownerName({ organization }: View, { organization: all }: ActualState): string | undefined {
  const name = all.find(({ id, name: known }) => id === organization || known === organization)?.[
    'name'
  ];
  return typeof name === 'string' ? name : undefined;
}

function isOf(namespace: string | undefined, view: View, known: Owner['known']): boolean {
  return namespace === undefined || namespaceOf(view, known) === namespace;
}

function onlyNamespace(views: readonly View[]): string | undefined {
  const namespaces = [...new Set(views.flatMap((view) => labelsOf(view)[NAMESPACE_LABEL] ?? []))];
  if (namespaces.length > 1) throw new SeveralNamespacesError(namespaces.sort());
  return namespaces[0];
}

/** The kinds that a comma-separated list names, by kind or section. Undefined for an unknown word. */
export function readKinds(words: readonly string[]): ReadonlySet<KindName> | undefined {
  const found = words.map((word) => kindNamed(word));
  if (found.includes(undefined)) return undefined;
  return new Set(found.filter((kind) => kind !== undefined));
}
