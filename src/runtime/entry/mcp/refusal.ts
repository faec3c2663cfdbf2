import type { Reply } from '../../../surfaces/http-exchange.ts';
import { RpcError, toFailure } from '../json-rpc.ts';
import type { RpcId } from '../json-rpc.ts';

/** Codes of this transport, as the official SDK has them. */
export const BAD_REQUEST = -32000;
export const SESSION_NOT_FOUND = -32001;

interface RefusalDetails {
  readonly code?: number;
  readonly headers?: Record<string, string>;
  readonly data?: object;
}

/** A request that is refused before any of its messages is looked at. */
export class Refusal extends RpcError {
  readonly status: number;
  readonly headers: Record<string, string> | undefined;

  constructor(
    status: number,
    message: string,
    { code = BAD_REQUEST, headers, data }: RefusalDetails = {},
  ) {
    super(code, message, data);
    this.status = status;
    this.headers = headers;
  }
}

/** The reply to a thrown `RpcError`. @throws `thrown` itself if it is another error */
export function toRefusal(thrown: unknown, id: RpcId | null = null): Reply {
  if (!(thrown instanceof RpcError)) throw thrown;
  const body = toFailure(id, thrown);
  if (!(thrown instanceof Refusal)) return { status: 400, body };
  const { status, headers } = thrown;
  return { status, body, ...(headers && { headers }) };
}
