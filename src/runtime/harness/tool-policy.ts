import type { AgentTool } from '../../sessions/resolved-agent.ts';
import type { ToolUse } from '../tools/tool-use.ts';

export type Permission = ToolUse['permission'];

/**
 * Permission that the Agent gives a tool for which a harness asks leave, by the first of its names
 * that it knows.
 */
export type ToolPolicy = (names: readonly string[]) => Permission;

const PERMISSIONS = { always_allow: 'allow', auto: 'allow', always_ask: 'ask' } as const;

/**
 * A harness asks where it sees reason to; `auto` leaves that to it. Only tools of the Agent's toolset
 * have settings; without one, everything is allowed.
 */
export function createToolPolicy(tools: readonly AgentTool[]): ToolPolicy {
  const toolset = tools.find((tool) => tool.type === 'agent_toolset_20260401');
  return (names) => {
    const own = toolset?.configs?.find(({ name }) => names.includes(name));
    const { enabled = true } = { ...toolset?.default_config, ...own };
    if (!enabled) return 'deny';
    const policy = own?.permission_policy ?? toolset?.default_config?.permission_policy;
    return PERMISSIONS[policy?.type ?? 'auto'];
  };
}
