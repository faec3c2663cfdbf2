import { kindOf, type KindName } from '../../config/objects/kinds.ts';
import { isSecretPath, secretAt } from '../../resources/fields/secret-path.ts';
import { usageError } from '../cli-error.ts';
import type { FlagValue } from '../grammar/flags.ts';
import type { FlagInput } from '../command-input.ts';
import { mergeLabels } from '../resources/merge-labels.ts';
import type { CREATES } from '../tables/write-commands.ts';
import { flagsOfKind, type FieldFlag, type WriteVerb } from './kind-flags.ts';
import {
  constantsAt,
  formsAt,
  formsOf,
  schemaOfKind,
  type Form,
  type MemberPath,
} from './member-schema.ts';
import { withReferences } from './name-references.ts';
import { readBody } from './read-body.ts';
import { readSecretName, readText } from './read-text.ts';
import { memberOf, removeMember, setMember, toMemberPath } from './set-member.ts';

export type Entry = Record<string, unknown>;

/** One entry of a section as the command line makes it. */
export interface ChangedEntry {
  readonly entry: Entry;
  /** Fields of which something was said. */
  readonly given: ReadonlySet<string>;
  /** Start of relative paths in it. */
  readonly directory: string;
}

interface Draft {
  readonly entry: Entry;
  readonly schema: Form;
  readonly given: Set<string>;
}

/** Input of `create` and `update`. */
export interface WriteInput extends FlagInput<typeof CREATES> {
  /** Values of flags by name; those of fields follow from the kind. */
  readonly loaded: Readonly<Record<string, FlagValue>>;
}

interface Change {
  readonly kind: KindName;
  readonly verb: WriteVerb;
  readonly entry: Entry;
  /** Values of --clear. Default: none. */
  readonly cleared?: readonly string[];
}

/**
 * An entry with the values of -f, the flags of fields, --set, --label and --clear, in this order.
 *
 * @throws CliError `usage` (exit 64) for words that cannot be read; the schema judges the values
 */
export async function changeEntry(
  { kind, verb, entry, cleared = [] }: Change,
  input: WriteInput,
): Promise<ChangedEntry> {
  const { flags, loaded } = input;
  const { body, directory } = await readBody(kind, input);
  const { secrets } = kindOf(kind);
  const given = new Set([
    ...Object.keys(body),
    ...secrets.filter((path) => secretAt(body, path) !== undefined),
  ]);
  const draft: Draft = { entry: { ...entry, ...body }, schema: schemaOfKind(kind), given };
  const fields = flagsOfKind(kind, verb);
  for (const field of fields) setByFlag(draft, field, loaded);
  for (const text of flags.set) setByPath(draft, kind, text);
  setLabels(draft, flags.label);
  for (const word of cleared) clear(draft, word, fields);
  return { entry: withReferences(kind, draft.entry), given, directory };
}

function setByFlag(draft: Draft, field: FieldFlag, loaded: WriteInput['loaded']): void {
  const texts = [loaded[field.spec.name] ?? []].flat().map(String);
  if (texts.length === 0) return;
  const value = valueOf(draft, field, texts);
  put(draft, field.path, { value, flag: `--${field.spec.name}` });
  for (const [path, standard] of Object.entries(field.short?.beside ?? {})) {
    const steps = path.split('.');
    const present = steps.reduce<unknown>(memberOf, draft.entry);
    if (present === undefined) put(draft, steps, { value: standard, flag: '' });
  }
}

function valueOf({ schema }: Draft, field: FieldFlag, texts: readonly string[]): unknown {
  const { spec, path, holds, short } = field;
  const flag = `--${spec.name}`;
  const forms = formsAt(schema, path);
  const [text = ''] = texts;
  if (short?.read !== undefined) {
    const items = texts.map(short.read);
    return holds === 'items' ? items : items[0];
  }
  if (holds === 'secret') return readSecretName(text, flag);
  if (holds === 'value') return readText(text, forms, flag);
  if (holds === 'pairs') return readPairs(texts, flag);
  const items = forms.flatMap((form) => formsOf(form['items']));
  return texts.map((one) => readText(one, items, flag));
}

function readPairs(texts: readonly string[], flag: string): Record<string, string> {
  const pairs = texts.map((text) => {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (key === undefined || value === undefined)
      throw usageError(`${flag} must be KEY=VALUE, not "${text}"`);
    return [key, value] as const;
  });
  return Object.fromEntries(pairs);
}

function setByPath(draft: Draft, kind: KindName, text: string): void {
  const [, before, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (before === undefined || value === undefined)
    throw usageError('--set must be PATH=VALUE', "--set 'routes[0].weight=2'");
  const path = toMemberPath(before, '--set');
  const [field] = path;
  const flag = `--set ${before}`;
  if (field === 'id' || field === 'lifecycle')
    throw usageError(`${flag}: ${field} is for gateway.yaml alone`);
  const isSecret = isSecretPath(kindOf(kind).secrets, path);
  const read = isSecret
    ? readSecretName(value, flag)
    : readText(value, formsAt(draft.schema, path), flag);
  put(draft, path, { value: read, flag });
}

/** Sets a member, and what the objects on the way always have. */
function put(draft: Draft, path: MemberPath, what: { value: unknown; flag: string }): void {
  const { entry, schema, given } = draft;
  setMember(entry, path, what);
  given.add(String(path[0])).add(path.join('.'));
  for (let length = path.length - 1; length > 0; length--) {
    const above = path.slice(0, length);
    const container = above.reduce<unknown>(memberOf, entry) as Entry;
    for (const [name, value] of Object.entries(constantsAt(schema, above)))
      container[name] ??= value;
  }
}

function setLabels({ entry, given }: Draft, changes: readonly string[]): void {
  const labels = mergeLabels((entry['labels'] ?? {}) as Record<string, string>, changes);
  if (labels === undefined) return;
  given.add('labels');
  if (Object.keys(labels).length > 0) entry['labels'] = labels;
  else delete entry['labels'];
}

/** `--clear` takes the name of a flag, or a path. */
function clear({ entry, given }: Draft, word: string, fields: readonly FieldFlag[]): void {
  const named = fields.find(({ spec }) => spec.name === word);
  const path = named?.path ?? toMemberPath(word.replaceAll('-', '_'), '--clear');
  if (given.has(String(path[0])) && path.length === 1)
    throw usageError(`${word} is both set and cleared`);
  removeMember(entry, path);
  given.add(String(path[0])).add(path.join('.'));
}
