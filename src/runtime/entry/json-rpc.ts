import { toGatewayError } from '../../core/errors.ts';
import { parseInSlices } from '../../core/json/json-document.ts';
import type { ValueBound } from '../../core/json/json-document.ts';
import { isJsonObject } from '../../core/json/value.ts';

export type RpcId = string | number;

/** JSON-RPC 2.0, section 5.1. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
} as const;

/** A failure that is returned as an error of JSON-RPC. */
export class RpcError extends Error {
  override readonly name = 'RpcError';
  readonly code: number;
  readonly data: object | undefined;

  constructor(code: number, message: string, data?: object) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

export interface RpcRequest {
  readonly type: 'request';
  readonly id: RpcId;
  readonly method: string;
  /** `{}` where there are none. */
  readonly params: unknown;
}

export interface RpcNotification {
  readonly type: 'notification';
  readonly method: string;
  readonly params: unknown;
}

/** The answer to a request that the client was sent. */
export interface RpcResponse {
  readonly type: 'response';
  readonly id: unknown;
  /** Undefined for an error. */
  readonly result: unknown;
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

/** @throws RpcError `parseError`, and `invalidRequest` for a body that is over a bound */
export async function parseRpc(bytes: Buffer, values: ValueBound): Promise<unknown> {
  try {
    return await parseInSlices(bytes, { values });
  } catch (thrown) {
    const { code, message } = toGatewayError(thrown);
    if (code === 'invalid_request') throw new RpcError(RPC.invalidRequest, message);
    throw new RpcError(RPC.parseError, 'the body is not valid JSON');
  }
}

/** @throws RpcError `invalidRequest` for a value that is no message of JSON-RPC 2.0 */
export function readMessage(value: unknown): RpcMessage {
  if (!isJsonObject(value) || value['jsonrpc'] !== '2.0') throw invalid();
  const { id, method, params = {} } = value;
  if (method === undefined && ('result' in value || 'error' in value))
    return { type: 'response', id, result: value['result'] };
  if (typeof method !== 'string') throw invalid();
  if (id === undefined) return { type: 'notification', method, params };
  if (!isId(id)) throw invalid();
  return { type: 'request', id, method, params };
}

/** The id that an answer to a broken message carries. */
export function idOf(value: unknown): RpcId | null {
  const id = isJsonObject(value) ? value['id'] : null;
  return isId(id) ? id : null;
}

export function toResult(id: RpcId, result: unknown): object {
  return { jsonrpc: '2.0', id, result };
}

export function toRequest(id: RpcId, method: string, params: object): object {
  return { jsonrpc: '2.0', id, method, params };
}

export function toNotification(method: string, params: object): object {
  return { jsonrpc: '2.0', method, params };
}

export function toFailure(id: RpcId | null, { code, message, data }: RpcError): object {
  return { jsonrpc: '2.0', id, error: { code, message, ...(data && { data }) } };
}

export function methodNotFound(method: string): RpcError {
  return new RpcError(RPC.methodNotFound, `method not found: ${method.slice(0, 100)}`);
}

function invalid(): RpcError {
  return new RpcError(RPC.invalidRequest, 'this is not a JSON-RPC 2.0 message');
}

export function isId(id: unknown): id is RpcId {
  return typeof id === 'string' || typeof id === 'number';
}
