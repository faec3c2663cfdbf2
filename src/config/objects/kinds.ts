import { z } from 'zod';
import { suggest } from '../../core/suggest.ts';
import type { ResourceDefinition } from '../../resources/store/define-resource.ts';
import { agent } from '../../resources/kinds/agent.ts';
import { api } from '../../resources/kinds/api.ts';
import { credential } from '../../resources/kinds/credential.ts';
import { deployment } from '../../resources/kinds/deployment.ts';
import { name } from '../../resources/fields/fields.ts';
import { key } from '../../resources/kinds/key.ts';
import { model } from '../../resources/kinds/model.ts';
import { organization } from '../../resources/kinds/organization.ts';
import { provider } from '../../resources/kinds/provider.ts';
import { service } from '../../resources/kinds/service.ts';
import { skill } from '../../resources/kinds/skill.ts';
import { readMemberPath } from './member-path.ts';

/** The kinds that a configuration declares, by the word used for one of them. */
export type KindName =
  | 'organization'
  | 'provider'
  | 'model'
  | 'api'
  | 'key'
  | 'skill'
  | 'agent'
  | 'credential'
  | 'service'
  | 'deployment';

export interface ConfigKind {
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
  /** Way in which an object that is no longer wanted is removed. */
  readonly removedBy: Removal;
  /** True when what a removal takes (a key's value, a place in time, an address) never comes back. */
  readonly isGoneForEver: boolean;
  /** True when the server makes up a value that it shows once, where none is declared. */
  readonly isIssued: boolean;
  /** Body of the update that switches it off; undefined when it cannot be. */
  readonly off: Readonly<Record<string, unknown>> | undefined;
  /** True for a field of the object that no update can change. */
  readonly isFixed: (field: string, view: Readonly<Record<string, unknown>>) => boolean;
  /** Members of an update that name what a field is now, by the field that is changed. */
  readonly guards: Readonly<Record<string, string>>;
  /** Fields that change only while the object is paused. */
  readonly boundWhilePaused: readonly string[];
}

export type Removal = 'delete' | 'revoke' | 'archive' | 'disable';

/** The organization that an object belongs to when it names none. */
export const DEFAULT_ORGANIZATION = 'default';

const ENABLED = { enabled: false };
const STATUS = { status: 'disabled' };

/** Schema of `lifecycle` for an object with these members. */
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

/** In reference order: what an object refers to is of an earlier kind, or of the same. */
export const CONFIG_KINDS: readonly ConfigKind[] = [
  toConfigKind('organization', organization, { off: ENABLED }),
  toConfigKind('provider', provider, { off: ENABLED }),
  toConfigKind('model', model, { off: ENABLED }),
  toConfigKind('api', api, { off: ENABLED }),
  toConfigKind('key', key, {
    off: ENABLED,
    removedBy: 'revoke',
    isGoneForEver: true,
    isIssued: true,
  }),
  toConfigKind('skill', skill),
  toConfigKind('agent', agent, { removedBy: 'archive' }),
  toConfigKind('credential', credential, { off: STATUS, removedBy: 'disable' }),
  toConfigKind('service', service, {
    off: STATUS,
    isFixed: isModeSwitch,
    isGoneForEver: true,
    guards: { agent_version: 'expected_agent_version' },
  }),
  toConfigKind('deployment', deployment, {
    isFixed: isModeSwitch,
    removedBy: 'archive',
    isGoneForEver: true,
    boundWhilePaused: ['agent_id', 'agent_version'],
  }),
];

export const COLLECTIONS: ReadonlySet<string> = new Set(
  CONFIG_KINDS.map(({ collection }) => collection),
);

const BY_KIND: ReadonlyMap<KindName, ConfigKind> = new Map(
  CONFIG_KINDS.map((kind) => [kind.kind, kind]),
);

export function kindOf(kind: KindName): ConfigKind {
  const found = BY_KIND.get(kind);
  if (found === undefined) throw new Error(`no kind ${kind}`);
  return found;
}

function toConfigKind(
  kind: KindName,
  definition: ResourceDefinition,
  {
    off,
    removedBy = 'delete',
    isGoneForEver = false,
    isIssued = false,
    guards = {},
    boundWhilePaused = [],
    isFixed = (field) => definition.immutable.includes(field),
  }: Partial<
    Pick<
      ConfigKind,
      'off' | 'removedBy' | 'isGoneForEver' | 'isIssued' | 'guards' | 'boundWhilePaused' | 'isFixed'
    >
  > = {},
): ConfigKind {
  return {
    kind,
    collection: definition.collection,
    description: definition.description,
    definition,
    entry: definition.fields.extend({
      // Declarations know an object by these members, also where the API has a default.
      ...(definition.fields.shape['name']?.safeParse(undefined).success && { name }),
      id: z
        .string()
        .min(1)
        .max(128)
        .optional()
        .describe('The one object that is meant, where several have this name.'),
      labels,
      lifecycle: lifecycleFor([...Object.keys(definition.fields.shape), 'labels']),
    }),
    secrets: definition.secrets,
    isOwned: definition.organizationScoped,
    removedBy,
    isGoneForEver,
    isIssued,
    off,
    isFixed,
    guards,
    boundWhilePaused,
  };
}

/**
 * True for a change between an Agent and a declarative runtime, which no object can make; a
 * definition stays.
 */
function isModeSwitch(field: string, view: Readonly<Record<string, unknown>>): boolean {
  const isDeclarative = (view['runtime'] ?? null) !== null;
  return field === 'runtime' || (field === 'agent_id' && isDeclarative);
}
