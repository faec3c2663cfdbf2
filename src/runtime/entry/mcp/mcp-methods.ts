import { z } from 'zod';
import { GatewayError } from '../../../core/errors.ts';
import { parseInput } from '../../../sessions/log/parse-input.ts';
import { methodNotFound, RPC, RpcError } from '../json-rpc.ts';
import type { RpcRequest } from '../json-rpc.ts';
import { serverInfo } from '../server-info.ts';
import type { Service } from '../service-desk.ts';
import type { SentMessage } from '../service-runs.ts';
import { CallProgress } from './call-progress.ts';
import type { McpChannel } from './call-progress.ts';
import { mayWait, TOOL_CALLS, toTurnResult, waitForTurn } from './call-tool.ts';
import type { CallTool, ToolCall, ToolDeps, TurnWait } from './call-tool.ts';
import { listTools, toToolFailure } from './mcp-tools.ts';
import type { ToolResult } from './mcp-tools.ts';
import { negotiate } from './mcp-versions.ts';
import { askOver, takesForms } from './questions.ts';

/** One request on its way. */
export interface McpRequest
  extends Pick<ToolCall, 'service' | 'payer' | 'seesAll'>, Pick<TurnWait, 'signal'> {
  readonly request: RpcRequest;
  readonly channel: McpChannel;
}

type Method = (call: McpRequest, deps: ToolDeps) => unknown;

const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['initialize', ({ request, service }) => initialize(request, service)],
  ['ping', () => ({})],
  ['tools/list', ({ request }) => list(request)],
  ['tools/call', callTool],
]);

/** The result of a request. @throws RpcError `methodNotFound`, `invalidParams` */
export async function runMethod(call: McpRequest, deps: ToolDeps): Promise<unknown> {
  const method = METHODS.get(call.request.method);
  if (!method) throw methodNotFound(call.request.method);
  return method(call, deps);
}

/** True when the answer may take minutes, in which progress is reported. */
export function isSlow({ method, params }: Omit<RpcRequest, 'type'>): boolean {
  return method === 'tools/call' && mayWait((params as { arguments?: unknown } | null)?.arguments);
}

const initializeParams = z.object({
  protocolVersion: z.string(),
  capabilities: z.looseObject({}),
  clientInfo: z.looseObject({ name: z.string(), version: z.string() }),
});

/** What a client and this server agree upon; the newest revision for a request that names none. */
export function agreedBy({ params }: RpcRequest): { version: string; takesForms: boolean } {
  const { protocolVersion, capabilities } = (params ?? {}) as Record<string, unknown>;
  return { version: negotiate(String(protocolVersion)), takesForms: takesForms(capabilities) };
}

function initialize(request: RpcRequest, service: Service): object {
  parseParams(initializeParams, request.params);
  return {
    protocolVersion: agreedBy(request).version,
    capabilities: { tools: {} },
    serverInfo: serverInfo(service),
    instructions: instructionsOf(service),
  };
}

/** Says to a model what the Service is for. */
export function instructionsOf({ name }: Service): string {
  return `Talk to the agent behind "${name}": send_message begins or continues a session, get_session reads what the agent said.`;
}

const listParams = z.object({
  cursor: z.undefined({ error: 'not a cursor of this list' }).optional(),
});

export function list({ params }: Pick<RpcRequest, 'params'>): object {
  parseParams(listParams, params);
  return { tools: listTools() };
}

export const callParams = z.object({
  name: z.string(),
  arguments: z.looseObject({}).optional(),
  _meta: z.looseObject({ progressToken: z.union([z.string(), z.number()]).optional() }).optional(),
});

async function callTool(
  { request, channel, signal, ...call }: McpRequest,
  deps: ToolDeps,
): Promise<unknown> {
  const { name, arguments: args = {}, _meta: meta } = parseParams(callParams, request.params);
  const tool = toolNamed(name);
  const { clock, sessions } = deps;
  const { service } = call;
  const { id: requestId } = request;
  const { progressToken } = meta ?? {};
  const settle = async (sent: SentMessage): Promise<object> => {
    const { sessionId } = sent;
    const progress = new CallProgress({ clock, channel, requestId, progressToken });
    const ask = askOver(channel, sessions, { organization: service.organization, sessionId });
    const turn = await waitForTurn(sent, { service, signal, progress, ask }, deps);
    return toTurnResult(sessionId, turn);
  };
  return orFailure(() => tool({ ...call, arguments: args, settle }, deps));
}

/** @throws RpcError `invalidParams` */
export function toolNamed(name: string): CallTool {
  const tool = TOOL_CALLS.get(name);
  if (tool) return tool;
  const known = [...TOOL_CALLS.keys()].join(' and ');
  throw new RpcError(RPC.invalidParams, `unknown tool: ${name.slice(0, 100)}; there are ${known}`);
}

/**
 * Returns a failure that a model can correct, wrong arguments included, as a result: hosts show
 * models nothing else.
 */
export async function orFailure<T extends object>(call: () => Promise<T>): Promise<T | ToolResult> {
  try {
    return await call();
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.code === 'internal_error') throw thrown;
    return toToolFailure(thrown.message);
  }
}

/** @throws RpcError `invalidParams` */
export function parseParams<T extends z.ZodType>(schema: T, params: unknown): z.output<T> {
  try {
    return parseInput(schema, params);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    throw new RpcError(RPC.invalidParams, thrown.message);
  }
}
