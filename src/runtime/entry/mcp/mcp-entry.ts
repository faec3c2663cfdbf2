import type { CallResult } from '../../../inference/types.ts';
import type { Reply } from '../../../surfaces/http-exchange.ts';
import type { EntryCall, PostedCall } from '../entry-call.ts';
import { isId, parseRpc, readMessage, RPC } from '../json-rpc.ts';
import type { RpcMessage } from '../json-rpc.ts';
import { answerRequests } from './answer-requests.ts';
import {
  checkSession,
  checkVersion,
  ownerOf,
  sessionIdOf,
  unknownSession,
} from './client-session.ts';
import type { McpDeps } from './mcp-deps.ts';
import { agreedBy } from './mcp-methods.ts';
import { answerModern } from './modern-entry.ts';
import { isModern, namesModern } from './modern-request.ts';
import { takeReply } from './questions.ts';
import { Refusal, toRefusal } from './refusal.ts';
import { createServerStreams } from './server-streams.ts';

/** A Service as a server of the Model Context Protocol over streamable HTTP (contract: Services). */
export interface McpEntry {
  post(call: PostedCall): Promise<Reply | CallResult>;
  /** Opens a stream of the server, or resumes one. */
  listen(call: EntryCall): Promise<Reply | CallResult>;
  /** Forgets the client's session; the Service and its Sessions stay. */
  close(call: EntryCall): Promise<Reply>;
}

/** Most messages in one body. */
const MAX_BATCH = 100;

export function createMcpEntry(deps: McpDeps): McpEntry {
  const streams = createServerStreams(deps);
  return {
    post: (call) => post(call, deps).catch((thrown: unknown) => toRefusal(thrown)),
    async listen(call) {
      try {
        refuseModern(call);
        return await streams.open(call);
      } catch (thrown) {
        return toRefusal(thrown);
      }
    },
    async close(call) {
      try {
        refuseModern(call);
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

/** @throws Refusal 405 for a client of a revision that has no session of the transport */
function refuseModern({ exchange: { request } }: EntryCall): void {
  if (!namesModern(request.headers)) return;
  const message = 'this revision has POST alone; subscriptions/listen opens a stream';
  throw new Refusal(405, message, { headers: { allow: 'POST' } });
}

async function post(call: PostedCall, deps: McpDeps): Promise<Reply | CallResult> {
  const value = await parseRpc(call.body, deps.resourceValues);
  if (isModern(value, call.exchange.request.headers)) return answerModern(value, call, deps);
  const messages = readBatch(value);
  const isInitialize = messages.some(
    (message) => 'method' in message && message.method === 'initialize',
  );
  if (isInitialize && messages.length > 1)
    throw new Refusal(400, 'initialize must be the only message', { code: RPC.invalidRequest });
  const transport = isInitialize ? undefined : await checkSession(call, deps.transports);
  for (const message of messages) {
    await takeBack(message, transport?.id, deps);
    if (message.type === 'response') await takeReply(message, call, deps.sessions);
  }
  const requests = messages.filter((message) => message.type === 'request');
  const [first] = requests;
  if (!first) return { status: 202 };
  const headers: Record<string, string> = isInitialize
    ? { 'mcp-session-id': await deps.transports.open(ownerOf(call), agreedBy(first)) }
    : {};
  const isBatch = Array.isArray(value);
  return answerRequests(requests, { call, deps, transport, headers, isBatch });
}

/** Ends the wait for an answer; the turn that the request began in its Session continues. */
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
    throw new Refusal(400, message, { code: RPC.invalidRequest });
  }
  return value.map(readMessage);
}
