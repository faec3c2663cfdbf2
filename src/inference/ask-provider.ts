import { Buffer } from 'node:buffer';
import type { Clock } from '../core/time/clock.ts';
import { UpstreamError } from '../upstream/transport.ts';
import type {
  Transport,
  UpstreamCall,
  UpstreamHeaders,
  UpstreamRequest,
} from '../upstream/transport.ts';

export interface ProviderAnswer {
  readonly status: number;
  readonly headers: UpstreamHeaders;
  readonly body: Buffer;
}

export interface AskOptions {
  transport: Transport;
  clock: Clock;
  /** Time in ms for the whole exchange. */
  timeoutMs: number;
  /** Most bytes of the answer. */
  maxBytes: number;
  /** Closes the connection at once. */
  signal?: AbortSignal | undefined;
}

/**
 * One exchange with a provider that is no inference call: a look at work that it keeps. Rejects with
 * `UpstreamError`, of kind `aborted` for one that took too long, was too large or was given up.
 */
export function askProvider(
  request: UpstreamRequest,
  { transport, clock, timeoutMs, maxBytes, signal }: AskOptions,
): Promise<ProviderAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let status = 0;
    let headers: UpstreamHeaders = {};
    let call: UpstreamCall | undefined;
    const giveUp = (): void => call?.abort();
    const timer = clock.setTimeout(giveUp, timeoutMs);
    const over = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', giveUp);
    };
    signal?.addEventListener('abort', giveUp);
    call = transport.send(request, {
      onHead(told, named) {
        status = told;
        headers = named;
      },
      onData(chunk) {
        chunks.push(chunk);
        size += chunk.length;
        if (size > maxBytes) giveUp();
      },
      onEnd() {
        over();
        resolve({ status, headers, body: Buffer.concat(chunks) });
      },
      onError(error) {
        over();
        reject(error);
      },
    });
    if (signal?.aborted) giveUp();
  });
}

/** True for an exchange that ended because this side gave it up. */
export function wasGivenUp(error: unknown): boolean {
  return error instanceof UpstreamError && error.kind === 'aborted';
}
