import { GatewayError } from '../../core/errors.ts';
import type { Body, Stored } from '../store/stored.ts';
import type { Draft, Lookup } from '../store/settlement.ts';

/**
 * `agent`, an id or `{type: 'agent', id, version?}`, is another spelling of `agent_id` and
 * `agent_version` (decisions: agent).
 *
 * @param param what the body calls it, for messages
 * @throws GatewayError `invalid_request` when both are there and differ
 */
export function withAgentAlias({ agent, ...body }: Body, param = 'agent'): Body {
  if (agent === undefined || agent === null) return body;
  const { id, version } = readAlias(agent, param);
  const spelled: [field: string, value: unknown][] = [['agent_id', id]];
  if (version !== undefined && version !== null) spelled.push(['agent_version', version]);
  for (const [field, value] of spelled) {
    const other = body[field];
    if (other === undefined || other === null || isSame(other, value)) continue;
    throw invalid(param, `says something else than ${field}`);
  }
  return { ...body, ...Object.fromEntries(spelled) };
}

function readAlias(agent: unknown, param: string): { id: string; version?: unknown } {
  if (typeof agent === 'string') return { id: agent };
  const { type = 'agent', id, version } = agent as Record<string, unknown>;
  if (type === 'agent' && typeof id === 'string') return { id, version };
  throw invalid(param, 'expected an id or {type: "agent", id, version?}');
}

/**
 * True when an update may change what the Service runs: a declarative one never (contract: Services), and a new
 * `agent_version` needs the bound one in `expected_agent_version`.
 *
 * @throws GatewayError `invalid_request`; `conflict` when another version is bound by now
 */
export function refuseRebinding({ spec }: Stored, sent: Body): Body {
  const { expected_agent_version: expected, ...rest } = sent;
  const patch: Record<string, unknown> = rest;
  const isDeclarative = spec['runtime'] !== null;
  const fixed = isDeclarative ? ['runtime', 'agent_id', 'agent_version'] : ['runtime'];
  for (const field of fixed) {
    const isNothing = patch[field] === null && spec[field] === null;
    if (field in patch && !isNothing) throw invalid(field, 'cannot be changed');
  }
  const bound = spec['agent_version'];
  if (expected !== undefined && !isSame(expected, bound)) {
    const message = `expected_agent_version: version ${String(bound)} is bound`;
    throw new GatewayError('conflict', {
      message,
      type: 'version_conflict',
      param: 'expected_agent_version',
      retry: false,
    });
  }
  const { agent_version: wanted } = patch;
  if (wanted === null) delete patch['agent_version'];
  else if (wanted !== undefined && !isSame(wanted, bound) && expected === undefined) {
    throw invalid('expected_agent_version', 'name the version that is bound now');
  }
  return patch;
}

/**
 * The version that the Service runs: the requested one, else the latest of a newly bound Agent, else the
 * present one.
 *
 * @throws GatewayError `not_found`; `conflict` for an archived Agent
 */
export async function pinAgent({ spec, before, body }: Draft, lookup: Lookup): Promise<string> {
  const { agent_id: id, agent_version: version } = spec;
  const isBound = before?.spec['agent_id'] === id;
  if (isBound && before?.spec['agent_version'] === version) return String(version);
  const found = await lookup.find({ kind: 'agent', target: String(id), path: 'agent_id' });
  const isAsked = body['agent_version'] !== undefined && body['agent_version'] !== null;
  if (!isAsked) return String(found.version);
  if (Number(version) <= found.version) return String(version);
  const message = `agent_version: agent ${found.id} has no version ${String(version)}`;
  throw new GatewayError('not_found', { message, param: 'agent_version' });
}

/** Versions are texts here and numbers with Agents. */
function isSame(a: unknown, b: unknown): boolean {
  return toText(a) === toText(b);
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function invalid(param: string, what: string): GatewayError {
  return new GatewayError('invalid_request', { message: `${param}: ${what}`, param });
}
