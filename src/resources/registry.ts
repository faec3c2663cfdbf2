import type { KeyHasher } from '../core/seal.ts';
import { agent, defineAgent } from './agent.ts';
import type { OperatorNames } from './agent-fields.ts';
import { credential } from './credential.ts';
import type { ResourceDefinition } from './define-resource.ts';
import { file } from './file.ts';
import { defineKey, key } from './key.ts';
import { model } from './model.ts';
import { organization } from './organization.ts';
import { provider } from './provider.ts';
import { defineService, service } from './service.ts';
import { skill } from './skill.ts';

/** Every kind, in the order in which references can be resolved. */
export const RESOURCES: readonly ResourceDefinition[] = [
  organization,
  provider,
  model,
  key,
  file,
  skill,
  agent,
  credential,
  service,
];

export interface BindOptions {
  hasher: KeyHasher;
  operator: OperatorNames;
}

/** The kinds with what they need at run time. */
export function bindResources({ hasher, operator }: BindOptions): readonly ResourceDefinition[] {
  const bound = new Map([
    [key, defineKey(hasher)],
    [agent, defineAgent(operator)],
    [service, defineService(operator)],
  ]);
  return RESOURCES.map((definition) => bound.get(definition) ?? definition);
}
