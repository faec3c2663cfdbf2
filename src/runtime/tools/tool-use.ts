import type { ToolResultPart } from '../../protocols/canonical/canonical.ts';

/** Result of a call. */
export interface ToolResult {
  readonly content: ToolResultPart['content'];
  readonly isError: boolean;
}

/** One call of a tool by the model, as the events show it. */
export interface ToolUse {
  /** Id of its event, by which the model and the client know the call. */
  readonly id: string;
  /**
   * Executor: the client by its own definition (`custom`) or by ours (`client`), or an MCP server.
   */
  readonly kind: 'custom' | 'client' | 'mcp';
  readonly name: string;
  /** Declared name of the server of a call of kind `mcp`. */
  readonly server: string | undefined;
  readonly input: Readonly<Record<string, unknown>>;
  readonly permission: 'allow' | 'ask' | 'deny';
  verdict: { readonly isAllowed: boolean; readonly message: string | undefined } | undefined;
  result: ToolResult | undefined;
}

/** The turn cannot continue without the client. */
export function waitsForClient(use: ToolUse): boolean {
  if (use.result) return false;
  if (use.kind === 'custom') return true;
  if (use.kind === 'client') return use.verdict?.isAllowed !== false;
  return use.permission !== 'allow' && !use.verdict;
}

/** The client denied it; the result for the model is pending. */
export function isDenied(use: ToolUse): boolean {
  return !use.result && use.kind !== 'custom' && use.verdict?.isAllowed === false;
}

/** Ours to run, now. */
export function isRunnable(use: ToolUse): boolean {
  return !use.result && use.kind === 'mcp' && isPermitted(use);
}

/** True when nothing forbids the call: by the Agent's policy, or because the client said yes. */
export function isPermitted({ permission, verdict }: ToolUse): boolean {
  return permission === 'allow' || verdict?.isAllowed === true;
}
