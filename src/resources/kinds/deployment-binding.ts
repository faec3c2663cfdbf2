import { z } from 'zod';
import { once } from '../../core/lazy.ts';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { agentParts, checkAgentParts } from './agent-fields.ts';
import type { AgentParts, OperatorNames } from './agent-fields.ts';
import { pinRuntime, runtimeOf } from './declared-runtime.ts';
import type { Body, Spec, Stored } from '../store/stored.ts';
import { agentConfigOf } from './deployment-fields.ts';
import { parseFields } from '../fields/parse-body.ts';
import { pinSkills } from '../skills/pin-skills.ts';
import { sameJson } from '../fields/same-json.ts';
import { pinAgent, withAgentAlias } from './service-binding.ts';
import type { Draft, Lookup } from '../store/settlement.ts';
import { versionKey } from '../store/storage-keys.ts';

const BINDING = ['agent_id', 'agent_version', 'runtime'] as const;
const parts = once(() => z.object(agentParts()));

/**
 * `agent` and `agent_binding` are other spellings of `agent_id` and `agent_version` (requirement
 * deployments.update.binding-spellings).
 *
 * @throws GatewayError `invalid_request` when two are there and differ
 */
export function withBinding({ agent_binding: binding, ...body }: Body): Body {
  const read = withAgentAlias(body);
  if (binding === undefined || binding === null) return read;
  if (!isJsonObject(binding)) throw invalid('agent_binding', 'expected an object');
  const { agent_id: id, agent_version: version, ...alias } = binding;
  const agent = id === undefined ? alias : { id, version };
  return withAgentAlias({ ...read, agent }, 'agent_binding');
}

/**
 * True when an update may change what the Schedule runs: a declarative one never, another one while it is
 * paused (contract: States and transitions).
 *
 * @throws GatewayError `invalid_request`; `conflict` when it is not paused
 */
export function refuseRebinding({ id, spec, state }: Stored, sent: Body): Body {
  const patch: Record<string, unknown> = { ...sent };
  // Nothing is requested, so the binding stays.
  if (patch['agent_version'] === null) delete patch['agent_version'];
  const changed = BINDING.filter((field) => field in patch && !isSame(patch[field], spec[field]));
  const fixed = runtimeOf(spec) === null ? 'runtime' : changed[0];
  if (fixed !== undefined && changed.includes(fixed)) throw invalid(fixed, 'cannot be changed');
  if (changed.length === 0 || (state['paused'] ?? null) !== null) return patch;
  const message = `deployment ${id} is not paused: pause it to bind another agent`;
  throw new GatewayError('conflict', {
    message,
    type: 'deployment_not_paused',
    param: 'agent_binding',
    retry: false,
  });
}

/**
 * Completes what a Schedule runs: the version of its Agent, the Skills with theirs, and overrides that make an
 * Agent together with the overridden fields.
 *
 * @throws GatewayError `not_found`, `conflict` for an archived Agent; `invalid_request` and
 * `unprocessable` for overrides that make no Agent
 */
export async function bind(
  draft: Draft,
  lookup: Lookup,
  operator: OperatorNames | undefined,
): Promise<Spec> {
  const { spec, before } = draft;
  const declared = runtimeOf(spec);
  const bound: Spec = declared
    ? { ...spec, agent_version: null, runtime: await pinRuntime(declared, draft, lookup) }
    : { ...spec, agent_version: Number(await pinAgent(draft, lookup)) };
  const config = agentConfigOf(bound);
  const members = [...BINDING, 'agent_config'];
  const isKept = before && members.every((field) => sameJson(before.spec[field], bound[field]));
  if (config === null || isKept) return bound;
  const base = runtimeOf(bound) ?? (await agentAt(bound, lookup));
  const prefix = 'agent_config.';
  const given = parseFields(parts(), { ...base, ...config }, prefix) as AgentParts;
  checkAgentParts(given, prefix, operator);
  if (!config.skills) return bound;
  const former = [...base.skills, ...((before && agentConfigOf(before.spec)?.skills) ?? [])];
  const skills = await pinSkills(config.skills, lookup, { former, prefix });
  return { ...bound, agent_config: { ...config, skills } };
}

/** The Agent's parts at the version that is bound. */
async function agentAt(spec: Spec, { find, store }: Lookup): Promise<AgentParts> {
  const target = String(spec['agent_id']);
  const latest = await find({ kind: 'agent', target, path: 'agent_id' });
  const version = Number(spec['agent_version']);
  const key = versionKey(latest.kind, latest.id, version);
  const bound = version === latest.version ? latest : (await store.get<Stored>(key))?.value;
  return (bound ?? latest).spec as unknown as AgentParts;
}

/** Versions may be texts. */
function isSame(sent: unknown, bound: unknown): boolean {
  return typeof bound === 'number' ? Number(sent) === bound : sameJson(sent ?? null, bound);
}

function invalid(param: string, what: string): GatewayError {
  return new GatewayError('invalid_request', { message: `${param}: ${what}`, param });
}
