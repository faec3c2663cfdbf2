import { z } from 'zod';
import { GatewayError } from '../core/errors.ts';
import { metadata } from '../resources/fields/fields.ts';
import { parseInput } from './log/parse-input.ts';
import { budget } from './session-budget.ts';
import type { NewSession, SessionChanges } from './sessions.ts';

/** An Agent as a body names it, with what a Session has in place of its own. */
export interface AgentReference {
  readonly agentId: string;
  /** Default: the latest. */
  readonly version?: number | undefined;
  /** Raw: `model`, `system`, `tools`, `mcp_servers`, `skills`. */
  readonly overrides?: Readonly<Record<string, unknown>> | undefined;
}

const id = z.string().min(1).max(256);
const version = z.int().min(1).optional();
const title = z.string().max(1_000).nullish();

const agent = z.union(
  [
    id.transform((id) => ({ id, version: undefined })),
    z.object({ type: z.literal('agent'), id, version }),
    z.looseObject({ type: z.literal('agent_with_overrides'), id, version }),
  ],
  { error: 'expected an agent id, {type: "agent", id} or {type: "agent_with_overrides", id}' },
);

const createBody = z.object({
  agent: agent.optional(),
  agent_id: id.optional(),
  agent_version: z.union([z.int().min(1), z.string().regex(/^\d+$/).transform(Number)]).optional(),
  title,
  metadata,
  environment_id: id.optional(),
  vault_ids: z.array(z.string()).max(100).optional(),
  resources: z
    .array(z.looseObject({ type: z.string() }))
    .max(100)
    .optional(),
  budget: budget.nullish(),
  initial_events: z.array(z.unknown()).max(50).optional(),
});

/** The body of `POST /v1/sessions` (requirement sessions.create). @throws GatewayError `invalid_request` */
export function readCreateBody(body: unknown): {
  reference: AgentReference;
  input: Omit<NewSession, 'organization' | 'payer' | 'entryPoint' | 'agent'>;
} {
  const read = parseInput(createBody, body);
  return {
    reference: readReference(read),
    input: {
      title: read.title,
      metadata: read.metadata,
      environmentId: read.environment_id,
      vaultIds: read.vault_ids,
      resources: read.resources,
      budget: read.budget,
      events: read.initial_events,
    },
  };
}

function readReference({
  agent,
  agent_id: agentId,
  agent_version: version,
}: z.output<typeof createBody>): AgentReference {
  if ((agent === undefined) === (agentId === undefined)) {
    const message = 'agent: exactly one of agent and agent_id is required';
    throw new GatewayError('invalid_request', { message, param: 'agent' });
  }
  if (agent === undefined) return { agentId: agentId ?? '', version };
  const { id, version: pinned, ...overrides } = agent;
  if (!('type' in overrides) || overrides.type === 'agent') {
    return { agentId: id, version: pinned ?? version };
  }
  const { type: _type, ...rest } = overrides;
  return { agentId: id, version: pinned ?? version, overrides: rest };
}

const updateBody = z.object({
  title,
  metadata: z.record(z.string(), z.string().nullable()).nullish(),
  agent: z.object({ tools: z.unknown().optional(), mcp_servers: z.unknown().optional() }).nullish(),
  vault_ids: z.undefined({ error: 'vaults are chosen when a session is created' }).optional(),
  budget: budget.nullish(),
});

/** The body of `POST /v1/sessions/{id}`. @throws GatewayError `invalid_request` */
export function readUpdateBody(body: unknown): SessionChanges {
  const { title, metadata, agent, budget } = parseInput(updateBody, body);
  return { title, metadata: metadata ?? undefined, agent: agent ?? undefined, budget };
}

const sendBody = z.object({ events: z.array(z.unknown()).min(1) });

/** The events of `POST /v1/sessions/{id}/events`, not looked at yet. @throws GatewayError `invalid_request` */
export function readSendBody(body: unknown): readonly unknown[] {
  return parseInput(sendBody, body).events;
}
