import { z } from 'zod';
import { suggest } from '../../core/suggest.ts';
import {
  DECLARED,
  type DeclaredCollection,
  factsOf,
  KINDS,
  type KindName,
} from '../../core/kinds.ts';
import { once } from '../../core/lazy.ts';
import { oneLine } from '../../core/printable.ts';
import { name } from '../../resources/fields/fields.ts';
import { definitionOf } from '../../resources/registry.ts';
import type { Lifecycle, ResourceDefinition } from '../../resources/store/define-resource.ts';
import { readMemberPath } from './member-path.ts';

export type { KindName };

export interface ConfigKind extends Required<Lifecycle> {
  readonly kind: KindName;
  /** Section of the file and last segment of the admin path. */
  readonly collection: string;
  readonly description: string;
  readonly definition: ResourceDefinition;
  /** One entry of the section. */
  readonly entry: z.ZodObject;
  /** Write-only fields. */
  readonly secrets: readonly string[];
  /** True when each belongs to an organization, by default {@link DEFAULT_ORGANIZATION}. */
  readonly isOwned: boolean;
  /** Body that switches it off; undefined when that is impossible. */
  readonly off: Readonly<Record<string, unknown>> | undefined;
}

/** The organization that an object belongs to when it names none. */
export const DEFAULT_ORGANIZATION = 'default';

/** Updates that turn an object off, by the field that says whether it is on. */
const OFF = { enabled: { enabled: false }, status: { status: 'disabled' } } as const;

/** Schema of the lifecycle of an object that has these members of its own. */
function lifecycleFor(members: readonly string[]): z.ZodType {
  return z
    .object({
      protected: z
        .boolean()
        .default(false)
        .describe('True: never removed because it is not declared.'),
      prune: z
        .enum(['delete', 'disable'])
        .default('delete')
        .describe('What happens to it when it is pruned.'),
      ignore_changes: z
        .array(
          z.string().superRefine((path, context) => {
            const [field] = readMemberPath(path) ?? [];
            if (field !== undefined && members.includes(String(field))) return;
            const hint = field === undefined ? undefined : suggest(String(field), [...members]);
            const message =
              field === undefined
                ? 'expected a path such as routes[0].weight'
                : `no field ${field}`;
            context.addIssue({
              code: 'custom',
              message: hint === undefined ? message : `${message}; ${hint}`,
            });
          }),
        )
        .optional()
        .describe('Paths that keep the value of the server once the object exists.'),
    })
    .optional()
    .describe('How plans treat the object, also when it is gone from the file.');
}

const labels = z
  .record(z.string().min(1).max(128), z.string().max(512))
  .refine(
    (value) => Object.keys(value).every((name) => !name.startsWith('gateway/')),
    'labels that begin with gateway/ are kept by the gateway',
  )
  .optional()
  .describe('Free names and values.');

/** Declared kinds in reference order: what an object refers to is of an earlier kind, or of the same. */
export const CONFIG_KINDS: readonly ConfigKind[] = DECLARED.map(toConfigKind);

export const COLLECTIONS: ReadonlySet<string> = new Set(
  CONFIG_KINDS.map(({ collection }) => collection),
);

/** Words for sections in addition to their names. */
export const SECTION_WORDS: Readonly<Record<string, DeclaredCollection>> = {
  schedules: 'deployments',
  endpoints: 'services',
  api_keys: 'keys',
};

const BY_WORD: ReadonlyMap<string, KindName> = new Map(
  CONFIG_KINDS.flatMap(({ kind, collection }) => {
    const others = Object.keys(SECTION_WORDS).filter((word) => SECTION_WORDS[word] === collection);
    const words = [kind, collection, ...others, ...others.map((word) => word.replace(/s$/, ''))];
    return words.map((word) => [word, kind] as const);
  }),
);

/** The kind that a word names: its own name, that of its section, or another for one of the two. */
export function kindNamed(word: string): KindName | undefined {
  return BY_WORD.get(word);
}

const WORDS: ReadonlyMap<string, string> = new Map(
  DECLARED.map((collection) => [KINDS[collection].name, KINDS[collection].word.toLowerCase()]),
);

/** What people call a kind, as help and docs do: `schedule`. */
export const wordOf = (kind: string): string => WORDS.get(kind) ?? kind;

/** The same with the name of one: `schedule default/report`. */
export function titleOf({ kind, identity }: { kind: string; identity: string }): string {
  return oneLine(`${wordOf(kind)} ${identity}`);
}

const BY_KIND: ReadonlyMap<KindName, ConfigKind> = new Map(
  CONFIG_KINDS.map((kind) => [kind.kind, kind]),
);

export function kindOf(kind: KindName): ConfigKind {
  const found = BY_KIND.get(kind);
  if (found === undefined) throw new Error(`no kind ${kind}`);
  return found;
}

function toConfigKind(collection: DeclaredCollection): ConfigKind {
  const definition = definitionOf(collection);
  const facts = factsOf(collection);
  const entry = once(() => entryOf(definition));
  return {
    kind: KINDS[collection].name,
    collection,
    description: definition.description,
    definition,
    get entry() {
      return entry();
    },
    secrets: definition.secrets,
    isOwned: facts.isOwned,
    off: facts.switch && OFF[facts.switch],
    removedBy: 'delete',
    isGoneForEver: false,
    isIssued: false,
    isFixed: (field) => definition.immutable.includes(field),
    guards: {},
    boundWhilePaused: [],
    ...definition.lifecycle,
  };
}

/** Fields of a declared object, with what every declaration may say besides. */
function entryOf({ fields }: ResourceDefinition): z.ZodObject {
  return fields.extend({
    // Declarations know an object by these members, also where the API has a default.
    ...(fields.shape['name']?.safeParse(undefined).success && { name }),
    id: z
      .string()
      .min(1)
      .max(128)
      .optional()
      .describe('The one object that is meant, where several have this name.'),
    labels,
    lifecycle: lifecycleFor([...Object.keys(fields.shape), 'labels']),
  });
}
