import type { ValueBound } from '../../../core/json/json-document.ts';
import { z } from 'zod';
import type { Clock } from '../../../core/time/clock.ts';
import type { ActiveExchanges } from '../../../inference/active-exchanges.ts';
import type { CallResult } from '../../../inference/types.ts';
import { parseInput } from '../../../sessions/log/parse-input.ts';
import type { Reply } from '../../../surfaces/http-exchange.ts';
import { watchCaller } from '../caller-watch.ts';
import type { PostedCall } from '../entry-call.ts';
import { followTurn, isPlaced } from '../follow-turn.ts';
import {
  idOf,
  parseRpc,
  readMessage,
  RPC,
  RpcError,
  toFailure,
  toNotification,
  toResult,
} from '../json-rpc.ts';
import type { RpcId, RpcNotification, RpcRequest } from '../json-rpc.ts';
import { createMessageStream } from '../message-stream.ts';
import type { SentMessage } from '../service-runs.ts';
import { findShown } from '../shown-session.ts';
import { toPromptResult } from './acp-end.ts';
import { asRpc, runAcpMethod } from './acp-methods.ts';
import type { AcpMethodDeps } from './acp-methods.ts';
import {
  AcpPermissions,
  CLIENT_METHODS_HEADER,
  REQUEST_PERMISSION,
  takePermission,
} from './acp-permissions.ts';
import { promptBlock, toPart } from './acp-prompt.ts';
import { AcpUpdates, SHOWN_IN_PARTS } from './acp-updates.ts';

export interface AcpDeps extends AcpMethodDeps {
  readonly clock: Clock;
  readonly resourceValues: ValueBound;
  /** Calls that a stop ends. */
  readonly active: ActiveExchanges;
  /** Receives errors that no client should see. */
  onBug(thrown: unknown, requestId: string): void;
}

/**
 * A Service as an agent of the Agent Client Protocol, one message to a POST (contract: Services). There is
 * no state of a connection: every request is self-contained, on whichever process.
 */
export interface AcpEntry {
  post(call: PostedCall): Promise<Reply | CallResult>;
}

export function createAcpEntry(deps: AcpDeps): AcpEntry {
  return {
    async post(call) {
      let value: unknown;
      try {
        value = await parseRpc(call.body, deps.resourceValues);
        if (Array.isArray(value))
          throw new RpcError(RPC.invalidRequest, 'JSON-RPC batches are not supported');
        const message = readMessage(value);
        if (message.type === 'request') return await answer(message, call, deps);
        if (message.type === 'notification') await take(message, call, deps);
        if (message.type === 'response') await takePermission(message, call, deps.sessions);
        return { status: 202 };
      } catch (thrown) {
        if (thrown instanceof RpcError)
          return { status: 400, body: toFailure(idOf(value), thrown) };
        throw thrown;
      }
    },
  };
}

/** Runs a notification. Its `RpcError` is dropped: JSON-RPC has no answer to a notification. */
async function take(message: RpcNotification, call: PostedCall, deps: AcpDeps): Promise<void> {
  try {
    await runAcpMethod(message, call, deps);
  } catch (thrown) {
    if (!(thrown instanceof RpcError)) throw thrown;
  }
}

async function answer(
  request: RpcRequest,
  call: PostedCall,
  deps: AcpDeps,
): Promise<Reply | CallResult> {
  const { id, method } = request;
  try {
    if (method === 'session/prompt') return await prompt(request, call, deps);
    return { status: 200, body: toResult(id, await runAcpMethod(request, call, deps)) };
  } catch (thrown) {
    return { status: 200, body: toFailure(id, toRpcError(thrown, call, deps)) };
  }
}

const promptParams = z.object({
  sessionId: z.string(),
  prompt: z.array(promptBlock).min(1),
});

async function prompt(
  { id, params }: RpcRequest,
  call: PostedCall,
  deps: AcpDeps,
): Promise<CallResult> {
  const sent = await asRpc(async () => {
    const { sessionId, prompt: blocks } = parseInput(promptParams, params);
    await findShown(deps.sessions, call, sessionId);
    const message = { content: blocks.map(toPart), sessionId, unlessWaiting: true };
    return deps.runs.send(call.service, call.payer, message);
  });
  call.leave();
  const caller = watchCaller(call.exchange, deps.active);
  const stream = createMessageStream('ndjson', { clock: deps.clock, caller });
  const prompting = { id, sent, write: stream.write, signal: caller.signal };
  void finish(prompting, call, deps)
    .then((last) => stream.write(last))
    .finally(() => {
      caller.done();
      stream.end();
    });
  return stream.reply;
}

interface Prompting {
  readonly id: RpcId;
  readonly sent: SentMessage;
  readonly signal: AbortSignal;
  write(message: object): Promise<void>;
}

/** True for a caller whose client can be asked while a prompt is open. */
function canBeAsked({ exchange: { request } }: PostedCall): boolean {
  const methods = String(request.headers[CLIENT_METHODS_HEADER] ?? '').split(',');
  return methods.some((method) => method.trim() === REQUEST_PERMISSION);
}

/** The last message of the stream. Never rejects. */
async function finish(
  { id, sent: { sessionId, event }, signal, write }: Prompting,
  call: PostedCall,
  deps: AcpDeps,
): Promise<object> {
  const updates = new AcpUpdates();
  const permissions = canBeAsked(call) ? new AcpPermissions(sessionId) : undefined;
  try {
    const end = await followTurn(deps.sessions, {
      organization: call.service.organization,
      sessionId,
      messageId: event.id,
      signal,
      deltas: SHOWN_IN_PARTS,
      async tell(item) {
        for (const update of updates.of(item))
          await write(toNotification('session/update', { sessionId, update }));
        if (!permissions || !isPlaced(item)) return;
        for (const request of permissions.take(item.event)) await write(request);
      },
      outlasts: () => permissions?.isOpen === true,
    });
    if (end) return toResult(id, toPromptResult(end));
    const message = 'the gateway is shutting down; the turn goes on in its session';
    throw new RpcError(RPC.internalError, message);
  } catch (thrown) {
    return toFailure(id, toRpcError(thrown, call, deps));
  }
}

function toRpcError(thrown: unknown, { exchange }: PostedCall, { onBug }: AcpDeps): RpcError {
  if (thrown instanceof RpcError) return thrown;
  onBug(thrown, exchange.id);
  return new RpcError(RPC.internalError, 'internal error');
}
