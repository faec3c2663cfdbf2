import { z } from 'zod';
import { once } from '../../core/lazy.ts';
import { ownerRef, skillRefs } from './agent-fields.ts';
import type { OperatorNames } from './agent-fields.ts';
import {
  checkRunnable,
  comparableRuntime,
  declaredRuntime,
  pinRuntime,
  runtimeOf,
  isModeSwitch,
} from './declared-runtime.ts';
import { defineResource } from '../store/define-resource.ts';
import type { ResourceDefinition } from '../store/define-resource.ts';
import { labels, metadata, name, owner } from '../fields/fields.ts';
import { pinAgent, refuseRebinding, withAgentAlias } from './service-binding.ts';
import type { Draft, Lookup, Settlement } from '../store/settlement.ts';

const PROTOCOLS = ['rest', 'mcp', 'acp'] as const;
const MAX_RESERVED_BYTES = 65_536;

const reserved = once(() =>
  z
    .record(z.string(), z.unknown())
    .refine((value) => JSON.stringify(value).length <= MAX_RESERVED_BYTES, 'is too large')
    .nullable()
    .default(null)
    .describe('Kept and shown; has no effect.'),
);

const version = once(() =>
  z
    .union([z.int().min(1), z.string().regex(/^[1-9]\d{0,14}$/, 'expected a version')])
    .transform(String),
);

/** An Agent published over REST, MCP or ACP (contract: Services). */
export const service: ResourceDefinition = defineResource('services', {
  idPrefix: 'ep',
  description: 'Agents published as Services.',
  fields: () =>
    z.object({
      name: name.describe('Shown to people.'),
      organization: owner,
      slug: z
        .string()
        .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'expected lower-case letters, digits and -')
        .nullable()
        .default(null)
        .describe('Unique short name.'),
      status: z
        .enum(['active', 'disabled'])
        .default('active')
        .describe('Only active can be called.'),
      agent_id: z.string().min(1).max(128).nullable().default(null).describe('Agent that it runs.'),
      agent_version: version()
        .nullable()
        .default(null)
        .describe('Version of the Agent; default: the latest at creation.'),
      runtime: declaredRuntime()
        .nullable()
        .default(null)
        .describe('Definition in place of an Agent.'),
      protocols: z
        .array(z.enum(PROTOCOLS))
        .min(1)
        .overwrite((given) => PROTOCOLS.filter((protocol) => given.includes(protocol)))
        .describe('How it can be called: rest, mcp, acp.'),
      session_metadata: metadata.describe('Metadata of every new Session.'),
      memory_config: reserved(),
      resource_config: reserved(),
      vault_config: reserved(),
      labels,
    }),
  immutable: ['organization'],
  deletable: true,
  lifecycle: {
    isGoneForEver: true,
    isFixed: isModeSwitch,
    guards: { agent_version: 'expected_agent_version' },
  },
  unique: ['slug'],
  filters: ['organization', 'status', 'agent_id'],
  flags: {
    agent: {
      path: 'agent_id',
      value: 'AGENT',
      description: 'Id or name of the Agent that it runs',
    },
  },
  search: ['slug', 'runtime', 'agent_id'],
  comparable: { runtime: comparableRuntime },
  api: { path: '/v1/endpoints', scope: 'endpoints', hidden: ['organization', 'version'] },
  refs: (spec) => [
    ownerRef(spec),
    ...(typeof spec['agent_id'] === 'string'
      ? [{ kind: 'agent', target: spec['agent_id'], path: 'agent_id' }]
      : []),
    ...skillRefs(runtimeOf(spec)?.skills ?? [], 'runtime.'),
  ],
  check: (spec) => checkRunnable(spec),
  read: withAgentAlias,
  patch: refuseRebinding,
  settle: settleService,
  shown: () => z.object({ urls: z.record(z.string(), z.string()) }),
  view: ({ id }) => ({
    urls: Object.fromEntries(
      [...PROTOCOLS].map((protocol) => [
        protocol,
        `/v1/endpoints/${id}/${protocol === 'rest' ? 'run' : protocol}`,
      ]),
    ),
  }),
});

/** Services that may name what the operator declared. */
export function defineService(operator: OperatorNames): ResourceDefinition {
  return { ...service, check: (spec) => checkRunnable(spec, operator) };
}

async function settleService(draft: Draft, lookup: Lookup): Promise<Settlement> {
  const { spec } = draft;
  const declared = runtimeOf(spec);
  if (declared === null) return { spec: { ...spec, agent_version: await pinAgent(draft, lookup) } };
  const runtime = await pinRuntime(declared, draft, lookup);
  return { spec: { ...spec, agent_version: null, runtime } };
}
