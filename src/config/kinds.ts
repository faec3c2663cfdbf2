import { z } from 'zod';
import type { ResourceDefinition } from '../resources/define-resource.ts';
import { key } from '../resources/key.ts';
import { model } from '../resources/model.ts';
import { organization } from '../resources/organization.ts';
import { provider } from '../resources/provider.ts';

/** The kinds that a configuration declares, by the word used for one of them. */
export type KindName = 'organization' | 'provider' | 'model' | 'key';

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
  /** How an object that is no longer wanted goes. */
  readonly removedBy: 'delete' | 'revoke';
}

const lifecycle = z
  .object({
    protected: z
      .boolean()
      .default(false)
      .describe('True: never removed because it is not declared.'),
    prune: z
      .enum(['delete', 'disable'])
      .default('delete')
      .describe('What happens to it when it is pruned.'),
  })
  .optional()
  .describe('What happens when the object is gone from the file.');

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
  toConfigKind('organization', organization),
  toConfigKind('provider', provider),
  toConfigKind('model', model),
  toConfigKind('key', key),
];

export const COLLECTIONS: ReadonlySet<string> = new Set(
  CONFIG_KINDS.map(({ collection }) => collection),
);

/** Sections of the format that this version does not serve. */
export const FUTURE_SECTIONS: readonly string[] = [
  'apis',
  'skills',
  'agents',
  'credentials',
  'services',
  'deployments',
  'moved',
];

export function kindOf(kind: KindName): ConfigKind {
  const found = CONFIG_KINDS.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`no kind ${kind}`);
  return found;
}

function toConfigKind(kind: KindName, definition: ResourceDefinition): ConfigKind {
  return {
    kind,
    collection: definition.collection,
    description: definition.description,
    definition,
    entry: definition.fields.extend({ labels, lifecycle }),
    secrets: definition.secrets,
    removedBy: definition.deletable ? 'delete' : 'revoke',
  };
}
