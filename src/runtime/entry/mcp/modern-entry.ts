import { z } from 'zod';
import type { CallResult } from '../../../inference/types.ts';
import type { Reply } from '../../../surfaces/http-exchange.ts';
import { watchCaller } from '../caller-watch.ts';
import type { EntryCall } from '../entry-call.ts';
import { methodNotFound, readMessage, RPC, RpcError, toFailure, toResult } from '../json-rpc.ts';
import { createMessageStream } from '../message-stream.ts';
import { replyForm } from '../reply-form.ts';
import type { SentMessage } from '../service-runs.ts';
import { toOneWay } from './answer-requests.ts';
import { CallProgress, NO_CHANNEL } from './call-progress.ts';
import type { McpChannel } from './call-progress.ts';
import { findSent, toTurnResult, waitForTurn } from './call-tool.ts';
import type { McpDeps } from './mcp-deps.ts';
import {
  callParams,
  instructionsOf,
  isSlow,
  list,
  orFailure,
  parseParams,
  toolNamed,
} from './mcp-methods.ts';
import { KNOWN_VERSIONS } from './mcp-versions.ts';
import { questionsOf, takeAnswers } from './questions.ts';
import { Refusal, toRefusal } from './refusal.ts';
import { readModern, TASKS } from './modern-request.ts';
import type { ModernRequest } from './modern-request.ts';
import { STREAM_HEADERS, toModernResult } from './modern-result.ts';
import { createRequestState } from './request-state.ts';
import { listen } from './subscriptions.ts';
import { cancelTask, getTask, newTask, updateTask } from './tasks.ts';

interface Working {
  readonly call: EntryCall;
  readonly deps: McpDeps;
  readonly signal: AbortSignal;
  readonly channel: McpChannel;
}

type Method = (request: ModernRequest, working: Working) => object | Promise<object>;

const LISTEN = 'subscriptions/listen';

const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['server/discover', discover],
  ['tools/list', (request) => ({ ...list(request), ...toCache('public') })],
  ['tools/call', callTool],
  ['tasks/get', (request, { call, deps }) => getTask(request, call, deps)],
  ['tasks/update', (request, { call, deps }) => updateTask(request, call, deps)],
  ['tasks/cancel', (request, { call, deps }) => cancelTask(request, call, deps)],
]);

/** Milliseconds in which the answer stays the same, unless the gateway is replaced or the Service renamed. */
const FRESH_MS = 5 * 60_000;

const toCache = (cacheScope: 'public' | 'private') => ({ ttlMs: FRESH_MS, cacheScope });

/**
 * Answers one message of a revision without `initialize` (MCP 2026-07-28): nothing of it is kept for the
 * next, so any process answers.
 */
export async function answerModern(
  value: unknown,
  call: EntryCall,
  deps: McpDeps,
): Promise<Reply | CallResult> {
  const { headers } = call.exchange.request;
  if (Array.isArray(value)) throw invalid('this revision has no batches; send one message');
  const message = readMessage(value);
  if (message.type === 'notification') return { status: 202 };
  if (message.type === 'response')
    throw invalid('this revision sends no requests to clients; answer with inputResponses');
  try {
    const request = readModern(message, headers);
    if (request.method === LISTEN) return await listen(request, call, deps);
    const method = METHODS.get(request.method);
    if (!method) throw unknownMethod(request.method);
    return await answer(request, method, { call, deps });
  } catch (thrown) {
    return toRefusal(thrown, message.id);
  }
}

const invalid = (message: string) => new Refusal(400, message, { code: RPC.invalidRequest });

function unknownMethod(name: string): Refusal {
  const { code, message } = methodNotFound(name);
  const known = [...METHODS.keys(), LISTEN].join(', ');
  return new Refusal(404, `${message}; known are ${known}`, { code });
}

async function answer(
  request: ModernRequest,
  method: Method,
  { call, deps }: Pick<Working, 'call' | 'deps'>,
): Promise<Reply | CallResult> {
  const { exchange, service } = call;
  const { id } = request;
  const mayWait = isSlow(request) && !request.takesTasks;
  const form = replyForm(exchange.request.headers.accept, mayWait);
  if (mayWait) call.leave();
  const caller = watchCaller(exchange, deps.active);
  const { signal } = caller;
  const run = async (channel: McpChannel): Promise<object> =>
    toResult(id, toModernResult(await method(request, { call, deps, signal, channel }), service));
  const fail = (thrown: unknown): RpcError => {
    if (thrown instanceof RpcError) return thrown;
    deps.onBug(thrown, exchange.id);
    return new RpcError(RPC.internalError, 'internal error');
  };
  if (form === 'json')
    try {
      return { status: 200, body: await run(NO_CHANNEL) };
    } catch (thrown) {
      const failure = fail(thrown);
      if (failure instanceof Refusal) throw failure;
      return { status: 200, body: toFailure(id, failure) };
    } finally {
      caller.done();
    }
  const stream = createMessageStream(form, { clock: deps.clock, caller, headers: STREAM_HEADERS });
  const way = toOneWay(stream);
  void run(way)
    .catch((thrown: unknown) => toFailure(id, fail(thrown)))
    .then(way.finish)
    .finally(() => {
      caller.done();
      stream.end();
    });
  return stream.reply;
}

function discover(_request: ModernRequest, { call: { service } }: Working): object {
  return {
    supportedVersions: KNOWN_VERSIONS,
    capabilities: { tools: {}, extensions: { [TASKS]: {} } },
    instructions: instructionsOf(service),
    ...toCache('private'),
  };
}

const retriedParams = callParams.extend({
  inputResponses: z.record(z.string(), z.unknown()).optional(),
  requestState: z.string().optional(),
});

/** Calls a tool, or continues a call that asked, whose message was sent before. */
async function callTool(request: ModernRequest, working: Working): Promise<object> {
  const { call, deps } = working;
  const { sessions } = deps;
  const params = parseParams(retriedParams, request.params);
  const { name, arguments: args = {}, inputResponses: answers = {}, requestState } = params;
  const tool = toolNamed(name);
  const state = createRequestState(call, { name, arguments: args }, deps);
  const progressToken = params._meta?.progressToken;
  const settle = async (sent: SentMessage): Promise<object> => {
    const { takesForms, takesTasks } = request;
    if (takesTasks)
      return { resultType: 'task', ...(await newTask(sent, { ...call, takesForms }, deps)) };
    const { signal, channel } = working;
    const { service } = call;
    const { sessionId } = sent;
    const way = { clock: deps.clock, channel, requestId: request.id, progressToken };
    const progress = new CallProgress(way);
    const turn = await waitForTurn(sent, { service, signal, progress }, deps);
    const { organization } = service;
    const isAsking = takesForms && turn.end?.type === 'requires_action' && turn.end.isOwn;
    const inputRequests = isAsking ? await questionsOf(sessions, { organization, sessionId }) : {};
    // An archived Session takes no answer.
    if (Object.keys(inputRequests).length === 0) return toTurnResult(sessionId, turn);
    const asked = {
      inputRequests,
      requestState: state.seal({ sessionId, messageId: sent.event.id }),
    };
    return { resultType: 'input_required', ...asked };
  };
  return orFailure(async () => {
    if (requestState === undefined) return tool({ ...call, arguments: args, settle }, deps);
    const at = state.open(requestState);
    await takeAnswers(sessions, call, { sessionId: at.sessionId, answers });
    return settle(await findSent(sessions, call, at));
  });
}
