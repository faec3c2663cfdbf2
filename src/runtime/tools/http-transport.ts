import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ErrorCode } from '@modelcontextprotocol/sdk/types.js';
import type { RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { Clock } from '../../core/time/clock.ts';
import { boundedFetch } from './bounded-fetch.ts';
import type { BoundedFetchOptions } from './bounded-fetch.ts';
import { ToolServerError } from './tool-server.ts';
import type { ToolTransport } from './tool-transport.ts';

export interface HttpTransportOptions extends Omit<BoundedFetchOptions, 'onEnd'> {
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

/** A lost stream ends the call; it is not asked for again. */
const NO_RECONNECTION = {
  initialReconnectionDelay: 1000,
  maxReconnectionDelay: 1000,
  reconnectionDelayGrowFactor: 1,
  maxRetries: 0,
};
/** A server may take so long to forget its session. */
const FAREWELL_MS = 2_000;

/**
 * A server over streamable HTTP. To that of the SDK it adds that a call whose answer breaks off is over:
 * there, it would be waited for until its deadline.
 */
export class HttpTransport extends StreamableHTTPClientTransport implements ToolTransport {
  fault: ToolServerError | undefined;
  readonly #clock: Clock;

  constructor(url: URL, { headers, clock, ...bounds }: HttpTransportOptions) {
    const ends: { tell?: (requests: readonly RequestId[], fault: unknown) => void } = {};
    const onEnd: BoundedFetchOptions['onEnd'] = (...end) => ends.tell?.(...end);
    super(url, {
      fetch: boundedFetch({ ...bounds, onEnd }),
      requestInit: { headers: { ...headers } },
      reconnectionOptions: NO_RECONNECTION,
    });
    this.#clock = clock;
    ends.tell = (requests, fault) => this.#endAll(requests, fault);
  }

  /** Ends the server's session first, where it has one. */
  override async close(): Promise<void> {
    const isOpen = this.fault === undefined;
    this.fault ??= lost();
    if (isOpen && this.sessionId !== undefined) await this.#sayFarewell();
    await super.close();
  }

  /** Fails every request; one that has its answer ignores it. */
  #endAll(requests: readonly RequestId[], thrown: unknown): void {
    const fault = thrown instanceof ToolServerError ? thrown : lost();
    const error = { code: ErrorCode.ConnectionClosed, message: fault.message, data: fault };
    // Bytes that have arrived are read first.
    setImmediate(() => {
      for (const id of requests) this.onmessage?.({ jsonrpc: '2.0', id, error });
    });
  }

  async #sayFarewell(): Promise<void> {
    const overdue = new Promise<void>((resolve) => {
      this.#clock.setTimeout(resolve, FAREWELL_MS);
    });
    await Promise.race([this.terminateSession().catch(() => undefined), overdue]);
  }
}

function lost(): ToolServerError {
  return new ToolServerError('connection', 'the connection to the server was lost');
}
