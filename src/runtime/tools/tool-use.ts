import type { ToolResultPart } from '../../protocols/canonical/canonical.ts';
import type { ToolQuestion } from './tool-server.ts';

/** Result of a call. */
export interface ToolResult {
  readonly content: ToolResultPart['content'];
  readonly isError: boolean;
}

/** A question of a server about a call, and the answer of the client. */
export interface AskedQuestion extends Omit<ToolQuestion, 'message'> {
  /** Id of its event. */
  readonly id: string;
  /** What the call needs to be continued; only at the first question of a round. */
  readonly resume: string | undefined;
  result: ToolResult | undefined;
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
  /** Questions of its server, those of the last round. */
  questions?: readonly AskedQuestion[];
}

/** Ids of the events that the client must answer before the turn continues. */
export function awaitedOf(use: ToolUse): string[] {
  if (use.result) return [];
  const open = openQuestions(use).map(({ id }) => id);
  return open.length === 0 && waitsForClient(use) ? [use.id] : open;
}

function openQuestions({ questions = [] }: ToolUse): AskedQuestion[] {
  return questions.filter(({ result }) => !result);
}

function waitsForClient({ kind, permission, verdict }: ToolUse): boolean {
  if (kind === 'custom') return true;
  if (kind === 'client') return verdict?.isAllowed !== false;
  return permission !== 'allow' && !verdict;
}

/** The client denied it; the result for the model is pending. */
export function isDenied(use: ToolUse): boolean {
  return !use.result && use.kind !== 'custom' && use.verdict?.isAllowed === false;
}

/** Ours to run, now. */
export function isRunnable(use: ToolUse): boolean {
  return !use.result && use.kind === 'mcp' && isPermitted(use) && openQuestions(use).length === 0;
}

/** True when nothing forbids the call: by the Agent's policy, or because the client said yes. */
export function isPermitted({ permission, verdict }: ToolUse): boolean {
  return permission === 'allow' || verdict?.isAllowed === true;
}
