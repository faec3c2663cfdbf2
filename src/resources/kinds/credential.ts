import { z } from 'zod';
import { GatewayError } from '../../core/errors.ts';
import { ownerRef } from './agent-fields.ts';
import { defineResource } from '../store/define-resource.ts';
import type { Spec, State } from '../store/stored.ts';
import type { ResourceDefinition } from '../store/define-resource.ts';
import { labels, name, owner, shownInstant } from '../fields/fields.ts';

const MAX_WEIGHT = 1_000_000;

const secretValue = z.string().min(1).max(65_536);

/** A secret that an Agent's tools use; rotated and disabled, never deleted (contract: Credential). */
export const credential: ResourceDefinition = defineResource('credentials', {
  idPrefix: 'sec',
  description: 'Secrets that the tools of Agents use.',
  fields: () =>
    z.object({
      name: name.optional().describe('Shown to people; default: <scope_name>:<secret_key>.'),
      organization: owner,
      agent_id: z.string().min(1).max(128).describe('Agent that it is for.'),
      scope: name.describe('What kind of thing it opens, such as mcp.'),
      scope_name: name.describe('Which one: the name of an MCP server, for example.'),
      secret_key: name.describe('Header or variable that carries it.'),
      value: secretValue.optional().describe('The secret; write-only.'),
      group_key: name
        .optional()
        .describe('Those of one group take turns; default: <scope_name>:<secret_key>.'),
      strategy: z.literal('round_robin').default('round_robin').describe('How they take turns.'),
      weight: z
        .int()
        .refine((value) => value >= 1 && value <= MAX_WEIGHT, `expected 1 to ${MAX_WEIGHT}`)
        .default(1)
        .describe('Share of the turns in its group.'),
      status: z
        .enum(['active', 'disabled'])
        .default('active')
        .describe('disabled is never chosen.'),
      labels,
    }),
  secrets: ['value'],
  immutable: ['organization', 'agent_id', 'scope', 'scope_name', 'secret_key', 'group_key'],
  deletable: false,
  lifecycle: { removedBy: 'disable' },
  unique: [],
  filters: ['organization', 'agent_id', 'status', 'group_key'],
  api: {
    path: '/v1/credentials',
    scope: 'credentials',
    hidden: ['organization', 'version', 'value_configured'],
    updatable: ['status', 'strategy', 'weight'],
    coded: true,
  },
  refs: (spec) => [
    ownerRef(spec),
    { kind: 'agent', target: String(spec['agent_id']), path: 'agent_id' },
  ],
  settle: async ({ spec, before, body }) => {
    if (!before && body['value'] === undefined) {
      throw new GatewayError('invalid_request', { message: 'value: is required', param: 'value' });
    }
    return { spec: withDefaults(spec) };
  },
  fromSecrets: ({ value }) => (value === undefined ? {} : healthy(value)),
  shown: () =>
    z.object({
      value_hint: z.string(),
      failure_count: z.int(),
      cooldown_until: shownInstant,
      value_configured: z.boolean(),
    }),
  view: ({ state, sealed }) => ({
    value_hint: state['value_hint'] ?? null,
    failure_count: state['failure_count'] ?? 0,
    cooldown_until: state['cooldown_until'] ?? null,
    value_configured: sealed['value'] !== undefined,
  }),
  actions: {
    rotate: ({ body }) => {
      const { success, data: value } = secretValue.safeParse(body['value']);
      if (success) return { secrets: { value }, state: healthy(value) };
      const message = 'value: expected the new secret';
      throw new GatewayError('invalid_request', { message, param: 'value' });
    },
  },
});

/** State of a new secret. */
function healthy(value: string): State {
  return { value_hint: secretHint(value), failure_count: 0, cooldown_until: null };
}

function withDefaults(spec: Spec): Spec {
  const standard = `${String(spec['scope_name'])}:${String(spec['secret_key'])}`;
  return { ...spec, name: spec.name ?? standard, group_key: spec['group_key'] ?? standard };
}

/** Enough to tell secrets apart: at most 4 characters of each end, none of a short one. */
export function secretHint(value: string): string {
  const characters = Array.from(value);
  const shown = characters.length < 12 ? 0 : Math.min(4, Math.floor(characters.length / 6));
  if (shown === 0) return '…';
  return `${characters.slice(0, shown).join('')}…${characters.slice(-shown).join('')}`;
}
