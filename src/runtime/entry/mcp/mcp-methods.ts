import type { CallToolResult, InitializeResult } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { GatewayError } from '../../../core/errors.ts';
import { parseInput } from '../../../sessions/log/parse-input.ts';
import { methodNotFound, RPC, RpcError } from '../json-rpc.ts';
import type { RpcRequest } from '../json-rpc.ts';
import { serverInfo } from '../server-info.ts';
import type { Service } from '../service-desk.ts';
import { CallProgress } from './call-progress.ts';
import type { McpChannel } from './call-progress.ts';
import { mayWait, TOOL_CALLS } from './call-tool.ts';
import type { ToolCall, ToolDeps } from './call-tool.ts';
import { listTools, toToolFailure } from './mcp-tools.ts';
import { negotiate } from './mcp-versions.ts';

/** One request on its way. */
export interface McpRequest extends Pick<ToolCall, 'service' | 'payer' | 'seesAll' | 'signal'> {
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
export function isSlow({ method, params }: RpcRequest): boolean {
  return method === 'tools/call' && mayWait((params as { arguments?: unknown } | null)?.arguments);
}

const initializeParams = z.object({
  protocolVersion: z.string(),
  capabilities: z.looseObject({}),
  clientInfo: z.looseObject({ name: z.string(), version: z.string() }),
});

/** The revision that a client and this server agree upon; the newest for a request that names none. */
export function versionOf({ params }: RpcRequest): string {
  const { protocolVersion } = (params ?? {}) as { protocolVersion?: unknown };
  return negotiate(String(protocolVersion));
}

function initialize(request: RpcRequest, service: Service): InitializeResult {
  parseParams(initializeParams, request.params);
  return {
    protocolVersion: versionOf(request),
    capabilities: { tools: {} },
    serverInfo: serverInfo(service),
    instructions: `Talk to the agent behind "${service.name}": send_message begins or continues a session, get_session reads what the agent said.`,
  };
}

const listParams = z.object({
  cursor: z.undefined({ error: 'not a cursor of this list' }).optional(),
});

function list({ params }: RpcRequest): object {
  parseParams(listParams, params);
  return { tools: listTools() };
}

const callParams = z.object({
  name: z.string(),
  arguments: z.looseObject({}).optional(),
  _meta: z.looseObject({ progressToken: z.union([z.string(), z.number()]).optional() }).optional(),
});

async function callTool(
  { request, channel, ...call }: McpRequest,
  deps: ToolDeps,
): Promise<unknown> {
  const { name, arguments: args = {}, _meta: meta } = parseParams(callParams, request.params);
  const tool = TOOL_CALLS.get(name);
  if (!tool) throw new RpcError(RPC.invalidParams, `unknown tool: ${name.slice(0, 100)}`);
  const { clock } = deps;
  const { id: requestId } = request;
  const { progressToken } = meta ?? {};
  const progress = new CallProgress({ clock, channel, requestId, progressToken });
  return orFailure(() => tool({ ...call, arguments: args, progress }, deps));
}

/**
 * Returns a failure that a model can correct, wrong arguments included, as a result: hosts show
 * models nothing else.
 */
export async function orFailure(call: () => Promise<CallToolResult>): Promise<CallToolResult> {
  try {
    return await call();
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.code === 'internal_error') throw thrown;
    return toToolFailure(thrown.message);
  }
}

function parseParams<T extends z.ZodType>(schema: T, params: unknown): z.output<T> {
  try {
    return parseInput(schema, params);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    throw new RpcError(RPC.invalidParams, thrown.message);
  }
}
