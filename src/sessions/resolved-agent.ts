/** Model of an Agent in its object form. */
export interface AgentModel {
  readonly id: string;
  readonly effort?: { readonly type: string };
  readonly speed?: string;
}

export type PermissionPolicy = { readonly type: 'always_allow' | 'always_ask' | 'auto' };

export interface ToolSettings {
  readonly enabled?: boolean;
  readonly permission_policy?: PermissionPolicy;
}

/** Tool of an Agent (requirement agents.tools.validation). */
export type AgentTool =
  | {
      readonly type: 'agent_toolset_20260401';
      readonly default_config?: ToolSettings;
      readonly configs?: readonly ({ readonly name: string } & ToolSettings)[];
    }
  | {
      readonly type: 'mcp_toolset';
      readonly mcp_server_name: string;
      readonly default_config?: ToolSettings;
      readonly configs?: readonly ({ readonly name: string } & ToolSettings)[];
    }
  | {
      readonly type: 'custom';
      readonly name: string;
      readonly description: string;
      readonly input_schema: Readonly<Record<string, unknown>>;
    };

export interface AgentMcpServer {
  readonly type: 'url' | 'stdio';
  readonly name: string;
  /** Address of a server of type `url`. */
  readonly url?: string;
  /** Name of a server of type `stdio` that the operator declared under `server.mcp_servers`. */
  readonly server?: string;
}

export interface AgentSkill {
  readonly type: 'anthropic' | 'custom';
  readonly skill_id: string;
  readonly version: string;
}

/**
 * The definition that turns are run by: an Agent's version, or a declarative runtime (then `id` and
 * `version` are null), with the overrides of its Session applied.
 */
export interface ResolvedAgent {
  readonly id: string | null;
  readonly version: number | null;
  readonly name: string;
  readonly description: string | null;
  /** Null where a harness needs none. */
  readonly model: AgentModel | null;
  readonly system: string | null;
  readonly tools: readonly AgentTool[];
  readonly mcp_servers: readonly AgentMcpServer[];
  readonly skills: readonly AgentSkill[];
  /**
   * A process that the operator declared under `server.harnesses`, or a program of the Agent's own; null
   * is the built-in model loop.
   */
  readonly harness: string | InlineHarness | null;
}

export interface InlineHarness {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly protocol: 'acp' | 'jsonl';
}

/** Name by which credentials and the log know the Agent's harness. */
export function harnessName({ harness }: Pick<ResolvedAgent, 'harness'>): string | null {
  return typeof harness === 'object' && harness ? harness.name : harness;
}
