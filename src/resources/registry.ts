import type { Clock } from '../core/clock.ts';
import type { KeyHasher } from '../core/seal.ts';
import { agent, defineAgent } from './agent.ts';
import type { OperatorNames } from './agent-fields.ts';
import { api } from './api.ts';
import type { OwnWebhook } from './chat-webhooks.ts';
import { credential } from './credential.ts';
import type { ResourceDefinition } from './define-resource.ts';
import { defineDeployment, deployment } from './deployment.ts';
import { file } from './file.ts';
import { inventory } from './inventory.ts';
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
  api,
  key,
  file,
  skill,
  agent,
  credential,
  service,
  deployment,
  inventory,
];

export interface BindOptions {
  hasher: KeyHasher;
  clock: Clock;
  operator: OperatorNames;
  /** Where Schedules may announce their runs beside the known providers. */
  webhooks: readonly OwnWebhook[];
}

/** The kinds with what they need at run time. */
export function bindResources(options: BindOptions): readonly ResourceDefinition[] {
  const { hasher, operator } = options;
  const bound = new Map([
    [key, defineKey(hasher)],
    [agent, defineAgent(operator)],
    [service, defineService(operator)],
    [deployment, defineDeployment(options)],
  ]);
  return RESOURCES.map((definition) => bound.get(definition) ?? definition);
}
