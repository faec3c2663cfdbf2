import type { FunctionTool } from '../../protocols/canonical/canonical.ts';
import type { AgentTool, PermissionPolicy, ToolSettings } from '../../sessions/resolved-agent.ts';
import type { ToolUse } from './tool-use.ts';
import { CLIENT_TOOLS } from './client-toolset.ts';
import type { ServerTool } from './tool-server.ts';
import { toVisibleName } from './visible-name.ts';

/** A tool that the model may call in this turn. */
export interface CallableTool extends Pick<ToolUse, 'kind' | 'name' | 'server' | 'permission'> {
  /** Declaration that the model sees. */
  readonly shown: FunctionTool;
}

type Toolset = Exclude<AgentTool, { type: 'custom' }>;

/**
 * Permission policies by default: clients watch the tools that they run, but not those of servers.
 */
const DEFAULT_POLICIES = {
  agent_toolset_20260401: 'always_allow',
  mcp_toolset: 'always_ask',
} as const satisfies Record<Toolset['type'], PermissionPolicy['type']>;

/** The tools by the name under which the model calls them; of two of one name the first stays. */
export function collectTools(
  declared: readonly AgentTool[],
  listed: ReadonlyMap<string, readonly ServerTool[]>,
): ReadonlyMap<string, CallableTool> {
  const tools = new Map<string, CallableTool>();
  for (const one of declared)
    for (const tool of toCallable(one, listed))
      if (!tools.has(tool.shown.name)) tools.set(tool.shown.name, tool);
  return tools;
}

function toCallable(
  tool: AgentTool,
  listed: ReadonlyMap<string, readonly ServerTool[]>,
): CallableTool[] {
  if (tool.type === 'custom') return [toCustom(tool)];
  if (tool.type === 'mcp_toolset') {
    const { mcp_server_name: server } = tool;
    return (listed.get(server) ?? []).flatMap((one) => toServed(tool, server, one));
  }
  return CLIENT_TOOLS.flatMap(({ isReadOnly, ...shown }) =>
    withSettings(
      tool,
      { name: shown.name, isReadOnly },
      { kind: 'client', server: undefined, shown },
    ),
  );
}

function toCustom(tool: Extract<AgentTool, { type: 'custom' }>): CallableTool {
  const { name, description, input_schema: parameters } = tool;
  const shown: FunctionTool = { type: 'function', name, description, parameters };
  return { kind: 'custom', name, server: undefined, permission: 'allow', shown };
}

function toServed(toolset: Toolset, server: string, tool: ServerTool): CallableTool[] {
  const { description, inputSchema: parameters } = tool;
  const shown: FunctionTool = {
    type: 'function',
    name: toVisibleName(server, tool.name),
    ...(description !== undefined && { description }),
    parameters,
  };
  return withSettings(toolset, tool, { kind: 'mcp', server, shown });
}

/** Nothing for a tool that is switched off. */
function withSettings(
  toolset: Toolset,
  { name, isReadOnly }: Pick<ServerTool, 'name' | 'isReadOnly'>,
  rest: Pick<CallableTool, 'kind' | 'server' | 'shown'>,
): CallableTool[] {
  const own: ToolSettings | undefined = toolset.configs?.find((config) => config.name === name);
  if (!(own?.enabled ?? toolset.default_config?.enabled ?? true)) return [];
  const policy =
    own?.permission_policy?.type ??
    toolset.default_config?.permission_policy?.type ??
    DEFAULT_POLICIES[toolset.type];
  return [{ ...rest, name, permission: toPermission(policy, isReadOnly) }];
}

/** `auto` lets through what cannot do harm; of the rest the gateway is no judge. */
function toPermission(
  policy: PermissionPolicy['type'],
  isReadOnly: boolean,
): CallableTool['permission'] {
  if (policy === 'always_allow') return 'allow';
  return policy === 'auto' && isReadOnly ? 'allow' : 'ask';
}
