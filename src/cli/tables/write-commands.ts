import { factsOf, type Collection, type KindName } from '../../core/kinds.ts';
import type { ArgSpec, CommandSpec, ExampleSpec, FlagSpec } from '../command.ts';
import { FORCE, ID, OBJECT_FORMATS } from './shared-words.ts';

const NAME = {
  name: 'name',
  description: 'Name of the new one; -f may give it, too',
} as const satisfies ArgSpec;

/** Flags that give any field of an object. */
export const FIELDS = [
  {
    name: 'file',
    short: 'f',
    type: 'string',
    value: 'FILE',
    description: 'Fields as YAML or JSON, or - for stdin; flags win over them',
  },
  {
    name: 'set',
    type: 'string',
    value: 'PATH=VALUE',
    repeatable: true,
    description: 'Any field by its path, such as routes[0].weight=2',
  },
] as const satisfies readonly FlagSpec[];

const LABEL = {
  name: 'label',
  type: 'string',
  value: 'KEY=VALUE',
  repeatable: true,
  description: 'Label to set',
} as const satisfies FlagSpec;

/** Flags of `create` in addition to those of fields. */
export const CREATES = [...FIELDS, LABEL] as const;

/** Flags of `update` in addition to those of fields. */
export const CHANGES = [
  ...FIELDS,
  { ...LABEL, description: 'Label to set; KEY- removes it' },
  {
    name: 'clear',
    type: 'string',
    value: 'FIELD',
    repeatable: true,
    description: 'Field that goes to its default, by its flag or path',
  },
  FORCE,
] as const satisfies readonly FlagSpec[];

interface Written {
  readonly kind: Collection;
  /** Name of one of them with its article. Default: its word, `a model`. */
  readonly one?: string;
  readonly create: readonly ExampleSpec[];
  readonly update: readonly ExampleSpec[];
}

/** `create` and `update` of a kind; their flags follow from its declaration. */
export function writeCommands(written: Written): readonly CommandSpec[] {
  return [createCommand(written), updateCommand(written)];
}

export function createCommand({
  kind,
  one = oneOf(kind),
  create,
}: Omit<Written, 'update'>): CommandSpec {
  return {
    name: `${kind} create`,
    aliases: ['add'],
    summary: `Create ${one}`,
    description:
      'Checks it as `gateway validate` checks a file: each fault is told with its field (exit 3). With -o yaml writes nothing and prints what gateway.yaml would say. One that exists already is refused (exit 5).',
    examples: create,
    args: [NAME],
    flags: CREATES,
    formats: OBJECT_FORMATS,
    loadFlags: () => loadFlags(kind, 'create'),
    load: async () => {
      const { createObject } = await import('../write/create-object.ts');
      return { run: createObject(nameOf(kind)) };
    },
  };
}

export function updateCommand({
  kind,
  one = oneOf(kind),
  update,
}: Omit<Written, 'create'>): CommandSpec {
  return {
    name: `${kind} update`,
    summary: `Change ${one}`,
    description:
      'What no flag names stays as it is; a list that is given takes the place of the former one. Faults are told as `gateway validate` tells them (exit 3). One that a namespace of gateway.yaml owns is changed with --force alone (exit 5 without), and its next apply may change it back. With -o yaml changes nothing and prints what gateway.yaml would say.',
    examples: update,
    args: [ID],
    flags: CHANGES,
    formats: OBJECT_FORMATS,
    loadFlags: () => loadFlags(kind, 'update'),
    load: async () => {
      const { updateByWords } = await import('../write/update-object.ts');
      return { run: updateByWords(nameOf(kind)) };
    },
  };
}

/** The schemas of the kinds are loaded only by the called command. */
async function loadFlags(
  kind: Collection,
  verb: 'create' | 'update',
): Promise<readonly FlagSpec[]> {
  const { flagsOfKind } = await import('../write/kind-flags.ts');
  return flagsOfKind(nameOf(kind), verb).map(({ spec }) => spec);
}

function nameOf(kind: Collection): KindName {
  return factsOf(kind).name as KindName;
}

function oneOf(kind: Collection): string {
  return withArticle(factsOf(kind).word);
}

/** `an Agent`, `a provider`. */
export function withArticle(word: string): string {
  return `${/^[aeiou]/i.test(word) ? 'an' : 'a'} ${word}`;
}
