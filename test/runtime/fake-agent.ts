import type { ResolvedAgent } from '../../src/sessions/resolved-agent.ts';
import type { SessionUsage } from '../../src/sessions/session.ts';

export const EMPTY_USAGE: SessionUsage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
};

export function fakeAgent(overrides: Partial<ResolvedAgent> = {}): ResolvedAgent {
  return {
    id: 'agent_1',
    version: 1,
    name: 'one',
    description: null,
    model: { id: 'acme/fast' },
    system: 'Be brief.',
    tools: [],
    mcp_servers: [],
    skills: [],
    harness: null,
    ...overrides,
  };
}

export const LOOK_UP = {
  type: 'custom',
  name: 'look_up',
  description: 'Looks something up.',
  input_schema: { type: 'object', properties: { what: { type: 'string' } } },
} as const;

/** An Agent with a custom tool and one server of tools. */
export function agentWithTools(policy: 'always_allow' | 'always_ask' | 'auto' = 'always_allow') {
  return {
    tools: [
      LOOK_UP,
      {
        type: 'mcp_toolset',
        mcp_server_name: 'shop',
        default_config: { permission_policy: { type: policy } },
      },
    ],
    mcp_servers: [{ type: 'url', name: 'shop', url: 'https://shop.example/mcp' }],
  } as const satisfies Partial<ResolvedAgent>;
}
