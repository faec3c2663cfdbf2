export interface ClientErrorDetails {
  /** HTTP status, or undefined when no answer arrived. */
  status?: number | undefined;
  /** Stable error code: the server's own, or `unreachable`, `timeout`, `aborted`, `invalid_response`. */
  code: string;
  message: string;
  /** The server's `x-request-id`, for `gateway logs`. */
  requestId?: string | undefined;
  /** The field at fault, when the server names one. */
  param?: string | undefined;
  /** Number of times that the call was sent. */
  attempts?: number | undefined;
  /** Milliseconds that the server asked to wait, from `Retry-After`. */
  retryAfterMs?: number | undefined;
  /** The server's `x-should-retry: false`: the call must not be repeated unchanged. */
  final?: boolean | undefined;
  /** True: nothing has changed, whatever became of the call. Default false. */
  isRead?: boolean | undefined;
  cause?: unknown;
}

/**
 * Every failure of a call to the gateway. Never carries the API key or a request body.
 *
 * @example
 * ```ts
 * import { ClientError } from 'agent-gateway';
 * import type { Client } from 'agent-gateway';
 *
 * async function hasModel(client: Client, name: string): Promise<boolean> {
 *   try {
 *     await client.admin('models').get(name);
 *     return true;
 *   } catch (error) {
 *     if (error instanceof ClientError && error.status === 404) return false;
 *     throw error;
 *   }
 * }
 * ```
 */
export class ClientError extends Error {
  override readonly name = 'ClientError';
  readonly status: number | undefined;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly param: string | undefined;
  readonly attempts: number;
  readonly retryAfterMs: number | undefined;
  readonly final: boolean;
  readonly isRead: boolean;

  constructor(details: ClientErrorDetails) {
    super(details.message, { cause: details.cause });
    this.status = details.status;
    this.code = details.code;
    this.requestId = details.requestId;
    this.param = details.param;
    this.attempts = details.attempts ?? 1;
    this.retryAfterMs = details.retryAfterMs;
    this.final = details.final ?? false;
    this.isRead = details.isRead ?? false;
  }
}
