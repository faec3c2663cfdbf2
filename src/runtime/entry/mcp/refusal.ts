import type { Reply } from '../../../surfaces/http-exchange.ts';
import { RpcError, toFailure } from '../json-rpc.ts';

/** Codes of this transport, as the official SDK has them. */
export const BAD_REQUEST = -32000;
export const SESSION_NOT_FOUND = -32001;

/** A request that is refused before any of its messages is looked at. */
export class Refusal extends RpcError {
  readonly status: number;
  readonly headers: Record<string, string> | undefined;

  constructor(
    status: number,
    message: string,
    { code = BAD_REQUEST, headers }: { code?: number; headers?: Record<string, string> } = {},
  ) {
    super(code, message);
    this.status = status;
    this.headers = headers;
  }
}

/** The reply to a thrown `RpcError`. @throws `thrown` itself if it is another error */
export function toRefusal(thrown: unknown): Reply {
  if (!(thrown instanceof RpcError)) throw thrown;
  const body = toFailure(null, thrown);
  if (!(thrown instanceof Refusal)) return { status: 400, body };
  const { status, headers } = thrown;
  return { status, body, ...(headers && { headers }) };
}
