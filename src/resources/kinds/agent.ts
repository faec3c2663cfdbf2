import { z } from 'zod';
import { GatewayError } from '../../core/errors.ts';
import {
  agentParts,
  checkAgentParts,
  description,
  ownerRef,
  partsOf,
  skillRefs,
} from './agent-fields.ts';
import type { OperatorNames } from './agent-fields.ts';
import { keepCredentials } from './credential-targets.ts';
import { defineResource } from '../store/define-resource.ts';
import type { Body, Stored } from '../store/stored.ts';
import type { ResourceDefinition } from '../store/define-resource.ts';
import { labels, metadata, name, owner } from '../fields/fields.ts';
import { asPinned, pinSkills } from '../skills/pin-skills.ts';

const SERVICE_ACCOUNT = { type: 'service_account' as const };

/** Agent that Sessions run: a model or a harness, with instructions, tools and Skills. */
export const agent: ResourceDefinition = defineResource('agents', {
  idPrefix: 'agent',
  description: 'Agents of organizations.',
  fields: () =>
    z.object({
      name: name.describe('Shown to people.'),
      organization: owner,
      description,
      ...agentParts(),
      multiagent: z.null().default(null).describe('Not supported.'),
      execution_identity: z
        .object({ type: z.literal('service_account') })
        .nullish()
        .transform((value) => value ?? SERVICE_ACCOUNT)
        .describe('Always the service account.'),
      metadata,
      labels,
    }),
  immutable: ['organization'],
  deletable: false,
  lifecycle: { removedBy: 'archive' },
  unique: [],
  archivable: true,
  versioned: true,
  patched: ['metadata'],
  comparable: { skills: asPinned },
  filters: ['organization'],
  search: ['description'],
  flags: {
    skill: {
      path: 'skills',
      value: 'SKILL',
      description: 'Id or name of a Skill that it has',
      repeatable: true,
      read: (text) => ({ type: 'custom', skill_id: text }),
    },
  },
  api: { path: '/v1/agents', scope: 'agents', hidden: ['organization'], guard: 'version' },
  shown: () => z.object({ model: z.object({ id: z.string() }).nullable() }),
  refs: (spec) => [ownerRef(spec), ...skillRefs(partsOf(spec).skills)],
  check: (spec) => checkAgentParts(partsOf(spec)),
  patch: keepEffort,
  permit: keepCredentials,
  settle: async ({ spec, before }, lookup) => {
    const former = before && partsOf(before.spec).skills;
    return { spec: { ...spec, skills: await pinSkills(partsOf(spec).skills, lookup, { former }) } };
  },
  actions: {
    archive: ({ stored, now }) =>
      stored.state['archived_at'] ? undefined : { state: { archived_at: now } },
  },
});

/** Agents that may name what the operator declared. */
export function defineAgent(operator: OperatorNames): ResourceDefinition {
  return { ...agent, check: (spec) => checkAgentParts(partsOf(spec), '', operator) };
}

/** The model is replaced whole, but for the effort that is only replaced by another one. */
function keepEffort({ spec }: Stored, patch: Body): Body {
  const { model } = patch;
  if (model === null) {
    const message = 'model: cannot be cleared';
    throw new GatewayError('invalid_request', { message, param: 'model' });
  }
  const effort = partsOf(spec).model?.effort;
  if (!effort || model === undefined) return patch;
  if (typeof model === 'string') return { ...patch, model: { id: model, effort } };
  return typeof model === 'object' ? { ...patch, model: { effort, ...model } } : patch;
}
