import type { ValueBound } from '../../../core/json/json-document.ts';
import type { ActiveExchanges } from '../../../inference/active-exchanges.ts';
import type { CallResult } from '../../../inference/types.ts';
import type { Reply } from '../../../surfaces/http-exchange.ts';
import { watchCaller } from '../caller-watch.ts';
import type { CallerWatch } from '../caller-watch.ts';
import type { EntryCall, PostedCall } from '../entry-call.ts';
import { isId, parseRpc, readMessage, RPC, RpcError, toFailure, toResult } from '../json-rpc.ts';
import type { RpcMessage, RpcRequest } from '../json-rpc.ts';
import { createMessageStream } from '../message-stream.ts';
import { replyForm } from '../reply-form.ts';
import type { ToolDeps } from './call-tool.ts';
import type { Cancellations } from './cancellations.ts';
import { isSlow, runMethod } from './mcp-methods.ts';
import type { McpTransports } from './mcp-transports.ts';
import { MCP_VERSIONS } from './mcp-versions.ts';

export interface McpDeps extends ToolDeps {
  readonly transports: McpTransports;
  readonly cancellations: Cancellations;
  readonly resourceValues: ValueBound;
  /** Calls that a stop ends. */
  readonly active: ActiveExchanges;
  /** Told of what no client should see. */
  onBug(thrown: unknown, requestId: string): void;
}

/** A Service as a server of the Model Context Protocol over streamable HTTP (contract: Services). */
export interface McpEntry {
  post(call: PostedCall): Promise<Reply | CallResult>;
  /** Forgets the client's session; the Service and its Sessions stay. */
  close(call: EntryCall): Promise<Reply>;
}

/** Of messages in one body. */
const MAX_BATCH = 100;

/** Codes of this transport, as the official SDK has them. */
const BAD_REQUEST = -32000;
const SESSION_NOT_FOUND = -32001;

export function createMcpEntry(deps: McpDeps): McpEntry {
  return {
    post: (call) => post(call, deps).catch(toRefusal),
    async close(call) {
      try {
        checkVersion(call);
        if (!(await deps.transports.close(sessionIdOf(call), ownerOf(call))))
          throw unknownSession();
        return { status: 204 };
      } catch (thrown) {
        return toRefusal(thrown);
      }
    },
  };
}

/** A request that is refused before any of its messages is looked at. */
class Refusal extends RpcError {
  readonly status: number;

  constructor(status: number, code: number, message: string) {
    super(code, message);
    this.status = status;
  }
}

function toRefusal(thrown: unknown): Reply {
  if (!(thrown instanceof RpcError)) throw thrown;
  const status = thrown instanceof Refusal ? thrown.status : 400;
  return { status, body: toFailure(null, thrown) };
}

async function post(call: PostedCall, deps: McpDeps): Promise<Reply | CallResult> {
  const value = await parseRpc(call.body, deps.resourceValues);
  const messages = readBatch(value);
  const isInitialize = messages.some(
    (message) => 'method' in message && message.method === 'initialize',
  );
  if (isInitialize && messages.length > 1)
    throw new Refusal(400, RPC.invalidRequest, 'initialize must be the only message');
  const transport = isInitialize ? undefined : await checkSession(call, deps);
  for (const message of messages) await takeBack(message, transport, deps);
  const requests = messages.filter((message) => message.type === 'request');
  if (requests.length === 0) return { status: 202 };
  const headers: Record<string, string> = isInitialize
    ? { 'mcp-session-id': await deps.transports.open(ownerOf(call)) }
    : {};
  return answer(requests, { call, deps, transport, headers, isBatch: Array.isArray(value) });
}

/** Ends the wait for an answer; what the request began in its Session goes on. */
async function takeBack(
  message: RpcMessage,
  transport: string | undefined,
  { cancellations }: McpDeps,
): Promise<void> {
  if (message.type !== 'notification' || message.method !== 'notifications/cancelled') return;
  const { requestId } = (message.params ?? {}) as { requestId?: unknown };
  if (transport !== undefined && isId(requestId)) await cancellations.cancel(transport, requestId);
}

function readBatch(value: unknown): RpcMessage[] {
  if (!Array.isArray(value)) return [readMessage(value)];
  if (value.length === 0 || value.length > MAX_BATCH) {
    const message = `a batch has 1 to ${MAX_BATCH} messages`;
    throw new Refusal(400, RPC.invalidRequest, message);
  }
  return value.map(readMessage);
}

function ownerOf({ service: { id, organization } }: EntryCall) {
  return { organization, endpoint: id };
}

function sessionIdOf({ exchange: { request } }: EntryCall): string {
  const id = request.headers['mcp-session-id'];
  if (typeof id === 'string' && id !== '') return id;
  const message = 'the header Mcp-Session-Id is required; initialize comes first';
  throw new Refusal(400, BAD_REQUEST, message);
}

function checkVersion({ exchange: { request } }: EntryCall): void {
  const version = request.headers['mcp-protocol-version'];
  if (version === undefined || MCP_VERSIONS.includes(String(version))) return;
  const message = `unsupported MCP-Protocol-Version; known are ${MCP_VERSIONS.join(', ')}`;
  throw new Refusal(400, BAD_REQUEST, message);
}

async function checkSession(call: EntryCall, { transports }: McpDeps): Promise<string> {
  checkVersion(call);
  const id = sessionIdOf(call);
  if (!(await transports.use(id, ownerOf(call)))) throw unknownSession();
  return id;
}

function unknownSession(): Refusal {
  return new Refusal(404, SESSION_NOT_FOUND, 'session not found');
}

interface Answering {
  readonly call: PostedCall;
  readonly deps: McpDeps;
  /** Undefined before there is one. */
  readonly transport: string | undefined;
  readonly headers: Record<string, string>;
  readonly isBatch: boolean;
}

async function answer(
  requests: readonly RpcRequest[],
  { call, deps, transport, headers, isBatch }: Answering,
): Promise<Reply | CallResult> {
  const { exchange } = call;
  const form = replyForm(exchange.request.headers.accept, requests.some(isSlow));
  const caller = watchCaller(exchange, deps.active);
  const shared = { call, deps, transport, caller };
  if (form === 'json') {
    const silent = async (): Promise<void> => undefined;
    const run = (request: RpcRequest) => respond(request, { ...shared, notify: silent });
    const given = await Promise.all(requests.map(run)).finally(() => caller.done());
    const answers = given.flatMap((one) => one ?? []);
    const [first] = answers;
    return first ? { status: 200, headers, body: isBatch ? answers : first } : { status: 202 };
  }
  const stream = createMessageStream(form, { clock: deps.clock, caller, headers });
  const run = async (request: RpcRequest): Promise<void> => {
    const given = await respond(request, { ...shared, notify: stream.write });
    if (given) await stream.write(given);
  };
  void Promise.all(requests.map(run)).finally(() => {
    caller.done();
    stream.end();
  });
  return stream.reply;
}

interface Responding extends Pick<Answering, 'call' | 'deps' | 'transport'> {
  readonly caller: CallerWatch;
  notify(notification: object): Promise<void>;
}

/** Undefined for a request that was taken back: it gets no answer. Never rejects. */
async function respond(
  request: RpcRequest,
  { call: { service, payer, exchange }, deps, transport, caller, notify }: Responding,
): Promise<object | undefined> {
  const taken =
    transport !== undefined && isSlow(request)
      ? deps.cancellations.watch(transport, request.id)
      : undefined;
  const signal = taken ? AbortSignal.any([caller.signal, taken.signal]) : caller.signal;
  try {
    const result = await runMethod({ request, service, payer, signal, notify }, deps);
    return taken?.signal.aborted ? undefined : toResult(request.id, result);
  } catch (thrown) {
    if (thrown instanceof RpcError) return toFailure(request.id, thrown);
    deps.onBug(thrown, exchange.id);
    return toFailure(request.id, new RpcError(RPC.internalError, 'internal error'));
  } finally {
    taken?.done();
  }
}
