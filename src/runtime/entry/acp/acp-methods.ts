import type { InitializeResponse } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import { GatewayError } from '../../../core/errors.ts';
import { parseInput } from '../../../sessions/log/parse-input.ts';
import type { Sessions } from '../../../sessions/sessions.ts';
import type { PostedCall } from '../entry-call.ts';
import { methodNotFound, RPC, RpcError } from '../json-rpc.ts';
import { serverInfo } from '../server-info.ts';
import type { ServiceRuns } from '../service-runs.ts';
import { findShown } from '../shown-session.ts';

export interface AcpMethodDeps {
  readonly sessions: Sessions;
  readonly runs: ServiceRuns;
}

export type AcpCaller = Pick<PostedCall, 'service' | 'payer' | 'seesAll'>;

type Method = (params: unknown, caller: AcpCaller, deps: AcpMethodDeps) => unknown;

/** ACP error code: resource not found. */
const NOT_FOUND = -32002;

/** All but `session/prompt`, whose answer is a stream. */
const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['initialize', initialize],
  ['session/new', openSession],
  ['session/cancel', cancel],
]);

/**
 * @throws RpcError `methodNotFound`, `invalidParams`, -32002 for an unknown Session, `invalidRequest` for
 *   one that takes no input
 */
export async function runAcpMethod(
  { method, params }: { method: string; params: unknown },
  caller: AcpCaller,
  deps: AcpMethodDeps,
): Promise<unknown> {
  const run = METHODS.get(method);
  if (!run) throw methodNotFound(method);
  return asRpc(() => run(params, caller, deps));
}

const initializeParams = z.object({ protocolVersion: z.number() });

function initialize(params: unknown, { service }: AcpCaller): InitializeResponse {
  parseInput(initializeParams, params);
  return {
    protocolVersion: 1,
    agentCapabilities: {
      loadSession: false,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: false, sse: false },
    },
    authMethods: [],
    agentInfo: serverInfo(service),
  };
}

/** Members about the client's machine, where nothing of ours runs (decisions: ACP envelopes). */
const newParams = z.object({
  cwd: z.string().optional(),
  mcpServers: z.array(z.unknown()).optional(),
});

async function openSession(
  params: unknown,
  { service, payer }: AcpCaller,
  { runs }: AcpMethodDeps,
): Promise<object> {
  parseInput(newParams, params);
  return { sessionId: await runs.open(service, payer) };
}

const cancelParams = z.object({ sessionId: z.string() });

async function cancel(
  params: unknown,
  caller: AcpCaller,
  { sessions }: AcpMethodDeps,
): Promise<object> {
  const { sessionId } = parseInput(cancelParams, params);
  await findShown(sessions, caller, sessionId);
  await sessions.send(caller.service.organization, sessionId, [{ type: 'user.interrupt' }]);
  return {};
}

/** Turns the gateway's errors into the codes of ACP. */
export async function asRpc<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    const code = CODES[thrown.code];
    throw code === undefined ? thrown : new RpcError(code, thrown.message);
  }
}

const CODES: Partial<Record<GatewayError['code'], number>> = {
  invalid_request: RPC.invalidParams,
  body_too_large: RPC.invalidParams,
  not_found: NOT_FOUND,
  conflict: RPC.invalidRequest,
};
