import { kindsWhere, type Collection } from '../core/kinds.ts';
import type { Clock } from '../core/time/clock.ts';
import type { KeyHasher } from '../core/seal.ts';
import { agent, defineAgent } from './kinds/agent.ts';
import type { OperatorNames } from './kinds/agent-fields.ts';
import { alias } from './kinds/alias.ts';
import { api } from './kinds/api.ts';
import { budget } from './kinds/budget.ts';
import type { OwnWebhook } from './kinds/chat-webhooks.ts';
import { credential } from './kinds/credential.ts';
import type { ResourceDefinition } from './store/define-resource.ts';
import { defineDeployment, deployment } from './kinds/deployment.ts';
import { file } from './kinds/file.ts';
import { inventory } from './kinds/inventory.ts';
import { defineKey, key } from './kinds/key.ts';
import { model } from './kinds/model.ts';
import { organization } from './kinds/organization.ts';
import { provider } from './kinds/provider.ts';
import { defineService, service } from './kinds/service.ts';
import { skill } from './kinds/skill.ts';

/** Declaration of every kind. */
const DECLARED: Readonly<Record<Collection, ResourceDefinition>> = {
  organizations: organization,
  providers: provider,
  models: model,
  aliases: alias,
  apis: api,
  keys: key,
  budgets: budget,
  files: file,
  skills: skill,
  agents: agent,
  credentials: credential,
  services: service,
  deployments: deployment,
  inventories: inventory,
};

export function definitionOf(collection: Collection): ResourceDefinition {
  return DECLARED[collection];
}

/** Every kind, in the order in which references can be resolved. */
export const RESOURCES: readonly ResourceDefinition[] = kindsWhere(() => true).map(definitionOf);

export interface BindOptions {
  hasher: KeyHasher;
  clock: Clock;
  operator: OperatorNames;
  /** Webhooks to which Schedules may announce their runs in addition to those of the known providers. */
  webhooks: readonly OwnWebhook[];
}

/** The kinds with their needs at run time. */
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
