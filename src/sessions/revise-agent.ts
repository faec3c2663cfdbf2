import { z } from 'zod';
import { agentParts, checkAgentParts } from '../resources/kinds/agent-fields.ts';
import type { AgentParts, OperatorNames } from '../resources/kinds/agent-fields.ts';
import { parseInput } from './log/parse-input.ts';
import type { ResolvedAgent } from './resolved-agent.ts';

const lists = z.object({ tools: agentParts().tools, mcp_servers: agentParts().mcp_servers });

/**
 * The Agent of one Session with other tools and servers (requirement sessions.update).
 *
 * @throws GatewayError `invalid_request` and `unprocessable`, as an update of the Agent itself does
 */
export function reviseAgent(
  agent: ResolvedAgent,
  changes: { readonly tools?: unknown; readonly mcp_servers?: unknown },
  operator?: OperatorNames,
): ResolvedAgent {
  const { tools, mcp_servers } = agent;
  const given = parseInput(lists, { tools, mcp_servers, ...changes }, 'agent');
  const next = { ...agent, ...given } as ResolvedAgent;
  checkAgentParts(next as unknown as AgentParts, 'agent.', operator);
  return next;
}
