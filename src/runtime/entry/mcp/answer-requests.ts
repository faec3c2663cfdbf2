import type { CallResult } from '../../../inference/types.ts';
import type { Reply } from '../../../surfaces/http-exchange.ts';
import { watchCaller } from '../caller-watch.ts';
import type { CallerWatch } from '../caller-watch.ts';
import type { EntryCall } from '../entry-call.ts';
import { RPC, RpcError, toFailure, toResult } from '../json-rpc.ts';
import type { RpcId, RpcRequest } from '../json-rpc.ts';
import { createMessageStream } from '../message-stream.ts';
import type { MessageStream } from '../message-stream.ts';
import { replyForm } from '../reply-form.ts';
import { NO_CHANNEL } from './call-progress.ts';
import type { McpChannel } from './call-progress.ts';
import { END_ID } from './event-id.ts';
import type { McpDeps } from './mcp-deps.ts';
import { isSlow, runMethod } from './mcp-methods.ts';
import type { McpTransport } from './mcp-transports.ts';
import { MCP_VERSIONS } from './mcp-versions.ts';

export interface Answering {
  readonly call: EntryCall;
  readonly deps: McpDeps;
  /** Undefined before there is one. */
  readonly transport: McpTransport | undefined;
  readonly headers: Record<string, string>;
  readonly isBatch: boolean;
}

/** Answers the requests of one POST, all in one body or stream. */
export async function answerRequests(
  requests: readonly RpcRequest[],
  { call, deps, transport, headers, isBatch }: Answering,
): Promise<Reply | CallResult> {
  const { exchange } = call;
  const mayWait = requests.some(isSlow);
  const form = replyForm(exchange.request.headers.accept, mayWait);
  if (mayWait) call.leave();
  const caller = watchCaller(exchange, deps.active);
  const shared = { call, deps, transport, caller };
  if (form === 'json') {
    const run = (request: RpcRequest) => respond(request, { ...shared, channel: NO_CHANNEL });
    const given = await Promise.all(requests.map(run)).finally(() => caller.done());
    const answers = given.flatMap((one) => one ?? []);
    const [first] = answers;
    return first ? { status: 200, headers, body: isBatch ? answers : first } : { status: 202 };
  }
  const stream = createMessageStream(form, { clock: deps.clock, caller, headers });
  // Event ids name a position in the stream of one call.
  const canResume = !isBatch && requests.every(isSlow);
  const way = canResume ? toResumable(stream, transport) : toOneWay(stream);
  const run = async (request: RpcRequest): Promise<void> =>
    way.finish(await respond(request, { ...shared, channel: way }));
  void Promise.all(requests.map(run)).finally(() => {
    caller.done();
    stream.end();
  });
  return stream.reply;
}

/** The way to a client that reads a stream. */
export interface StreamWay extends McpChannel {
  /** Sends the answer; undefined: there is none to come. */
  finish(answer: object | undefined): Promise<void>;
}

/** A stream that its client can come back to, by the id of the last event that it saw. */
export function toResumable(stream: MessageStream, transport: McpTransport | undefined): StreamWay {
  // Clients of former revisions take an event without data for a broken message.
  const takesMarks = transport?.version === MCP_VERSIONS[0];
  const mark = async (eventId: string): Promise<void> => {
    if (takesMarks) await stream.mark(eventId);
  };
  return {
    notify: (notification, eventId) => stream.write(notification, eventId),
    mark,
    ...(transport?.takesForms && { ask: (request: object) => stream.write(request) }),
    finish: (given) => (given ? stream.write(given, END_ID) : mark(END_ID)),
  };
}

/** A stream that is lost with its connection. */
export function toOneWay(stream: MessageStream): StreamWay {
  return {
    notify: (notification) => stream.write(notification),
    mark: NO_CHANNEL.mark,
    finish: async (given) => (given ? stream.write(given) : undefined),
  };
}

interface Responding extends Pick<Answering, 'call' | 'deps' | 'transport'> {
  readonly caller: CallerWatch;
  readonly channel: McpChannel;
}

function respond(request: RpcRequest, { channel, ...rest }: Responding) {
  const { service, payer, seesAll } = rest.call;
  const work = (signal: AbortSignal): Promise<unknown> =>
    runMethod({ request, service, payer, seesAll, signal, channel }, rest.deps);
  return respondWith({ id: request.id, isSlow: isSlow(request), work }, rest);
}

export interface Work {
  readonly id: RpcId;
  /** The client may take it back before it is done. */
  readonly isSlow: boolean;
  work(signal: AbortSignal): Promise<unknown>;
}

/** Undefined for a request that was taken back: it gets no answer. Never rejects. */
export async function respondWith(
  { id, isSlow: mayBeTakenBack, work }: Work,
  { call: { exchange }, deps, transport, caller }: Omit<Responding, 'channel'>,
): Promise<object | undefined> {
  const taken =
    transport && mayBeTakenBack ? deps.cancellations.watch(transport.id, id) : undefined;
  const signal = taken ? AbortSignal.any([caller.signal, taken.signal]) : caller.signal;
  try {
    const result = await work(signal);
    return taken?.signal.aborted ? undefined : toResult(id, result);
  } catch (thrown) {
    if (thrown instanceof RpcError) return toFailure(id, thrown);
    deps.onBug(thrown, exchange.id);
    return toFailure(id, new RpcError(RPC.internalError, 'internal error'));
  } finally {
    taken?.done();
  }
}
