import type { KeyHasher } from '../core/seal.ts';
import type { ResourceDefinition } from './define-resource.ts';
import { defineKey, key } from './key.ts';
import { model } from './model.ts';
import { organization } from './organization.ts';
import { provider } from './provider.ts';

/** Every kind, in the order in which references can be resolved. */
export const RESOURCES: readonly ResourceDefinition[] = [organization, provider, model, key];

/** The kinds with what they need at run time. */
export function bindResources(hasher: KeyHasher): readonly ResourceDefinition[] {
  return RESOURCES.map((definition) => (definition === key ? defineKey(hasher) : definition));
}
