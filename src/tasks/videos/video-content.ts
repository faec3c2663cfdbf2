import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../core/time/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import { createRelay } from '../../inference/relay.ts';
import type { Relay } from '../../inference/relay.ts';
import type { CallDeps } from '../../inference/run-call.ts';
import type { CallResult, ResponseHeaders } from '../../inference/types.ts';
import { Watchdog } from '../../inference/watchdog.ts';
import type { Route } from '../../routing/catalog.ts';
import { clientHeaders } from '../../upstream/response-headers.ts';
import { onceClosed } from '../../surfaces/http-exchange.ts';
import type {
  UpstreamCall,
  UpstreamError,
  UpstreamHeaders,
  UpstreamRequest,
  UpstreamSink,
} from '../../upstream/transport.ts';

/** Of the head of an answer in bytes: what a client needs to read them in pieces. */
const PASSED = ['content-length', 'content-range', 'accept-ranges'] as const;
const NOTHING = Buffer.alloc(0);

export interface VideoContentOptions extends Pick<CallDeps, 'active'> {
  readonly clock: Clock;
  readonly route: Route;
  /** The client's. */
  readonly response: ServerResponse;
  resolve(result: CallResult): void;
  reject(error: GatewayError): void;
}

/**
 * The bytes of a video on their way from its provider to a client, as fast as the client takes them.
 * What breaks off behind the head breaks the client's connection, so that nobody takes a part for the
 * whole.
 */
export class VideoContent implements UpstreamSink {
  readonly #options: VideoContentOptions;
  readonly #relay: Relay;
  readonly #watchdog: Watchdog;
  #upstream: UpstreamCall | undefined;
  #begun = false;
  #over = false;

  constructor(options: VideoContentOptions) {
    const { clock, route, response, active } = options;
    this.#options = options;
    this.#relay = createRelay({ clock, keepAlive: NOTHING, onDrain: () => this.#pause(false) });
    this.#watchdog = new Watchdog({
      clock,
      timeouts: route.timeouts,
      minThroughput: undefined,
      beforeCommitMs: route.timeouts.firstContent,
      callDeadline: Infinity,
      onLapse: () => this.#fail(new GatewayError(this.#lapseCode)),
    });
    active.add(this);
    onceClosed(response, () => this.#fail(new GatewayError('upstream_interrupted')));
  }

  attach(upstream: UpstreamCall): void {
    this.#upstream = upstream;
    if (this.#over) upstream.abort();
    else if (upstream.isWaiting) this.#watchdog.waiting();
  }

  onPlace(): void {
    this.#watchdog.placed();
  }

  onHead(status: number, headers: UpstreamHeaders): void {
    if (this.#over) return;
    if (status !== 200 && status !== 206 && status !== 416) return this.#fail(refusalOf(status));
    this.#begun = true;
    this.#watchdog.committed();
    const body = this.#relay.body;
    this.#options.resolve({ type: 'stream', status, headers: headersOf(headers), body });
  }

  onData(chunk: Buffer): void {
    if (this.#over) return;
    this.#watchdog.fed(chunk.length);
    if (!this.#relay.write(chunk)) this.#pause(true);
  }

  onEnd(): void {
    if (this.#over) return;
    this.#close();
    this.#relay.end();
  }

  onError(_error: UpstreamError): void {
    this.#fail(new GatewayError('no_route_succeeded'));
  }

  /** The gateway stops. */
  shutDown(): void {
    this.#fail(new GatewayError('shutting_down'));
  }

  /** A provider that was not asked is not late. */
  get #lapseCode(): 'no_route_succeeded' | 'upstream_timeout' {
    return this.#upstream?.isWaiting ? 'no_route_succeeded' : 'upstream_timeout';
  }

  #pause(on: boolean): void {
    if (this.#over) return;
    this.#watchdog.paused(on);
    if (on) this.#upstream?.pause();
    else this.#upstream?.resume();
  }

  #fail(error: GatewayError): void {
    if (this.#over) return;
    this.#close();
    this.#upstream?.abort();
    if (!this.#begun) return this.#options.reject(error);
    this.#relay.body.destroy();
    this.#options.response.destroy();
  }

  #close(): void {
    this.#over = true;
    this.#watchdog.stop();
    this.#options.active.delete(this);
  }
}

/** Asks for bytes, in a range where the client names one (RFC 9110, 14). */
export function withByteHeaders(
  request: UpstreamRequest,
  range: string | undefined,
): UpstreamRequest {
  const headers = request.headers.slice();
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at] === 'accept') headers[at + 1] = '*/*';
  }
  if (range !== undefined) headers.push('range', range);
  return { ...request, headers };
}

function headersOf(headers: UpstreamHeaders): ResponseHeaders {
  const passed = PASSED.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  return { ...clientHeaders(headers), ...Object.fromEntries(passed) };
}

function refusalOf(status: number): GatewayError {
  if (status !== 404 && status !== 410) return new GatewayError('no_route_succeeded');
  const message = 'the provider does not have the content of this video, or no longer';
  return new GatewayError('not_found', { message });
}
