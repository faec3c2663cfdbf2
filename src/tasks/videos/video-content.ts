import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import type { Clock } from '../../core/time/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import type { CallDeps } from '../../inference/run-call.ts';
import type { CallResult, ResponseHeaders } from '../../inference/types.ts';
import { UpstreamStream } from '../../inference/upstream-stream.ts';
import type { Route } from '../../routing/catalog.ts';
import { clientHeaders } from '../../upstream/response-headers.ts';
import { onceClosed } from '../../surfaces/http-exchange.ts';
import type { UpstreamHeaders, UpstreamRequest } from '../../upstream/transport.ts';

/** Headers that a client needs to read an answer in pieces. */
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
 * Bytes of a video on their way from its provider to a client, as fast as the client takes them: it may last
 * for any time, as long as bytes move on. An answer that breaks off after its head breaks the client's
 * connection, so that no client takes a part for the whole.
 */
export class VideoContent extends UpstreamStream {
  readonly #options: VideoContentOptions;

  constructor(options: VideoContentOptions) {
    const { clock, route, response, active } = options;
    const { timeouts } = route;
    const beforeCommitMs = timeouts.firstContent;
    super({ clock, timeouts, beforeCommitMs, callDeadline: Infinity, active });
    this.#options = options;
    onceClosed(response, () => this.giveUp());
  }

  protected override answered(status: number, headers: UpstreamHeaders): void {
    if (status !== 200 && status !== 206 && status !== 416) return this.#fail(refusalOf(status));
    const { body } = this.commit(NOTHING);
    this.#options.resolve({ type: 'stream', status, headers: headersOf(headers), body });
  }

  protected override received(chunk: Buffer): void {
    this.pass(chunk);
  }

  protected override finished(): void {
    this.close();
    this.relay?.end();
  }

  protected override failed(): void {
    this.#fail(new GatewayError('no_route_succeeded'));
  }

  /** A provider that was not asked is not late. */
  protected override lapsed(): void {
    this.#fail(new GatewayError(this.isWaiting ? 'no_route_succeeded' : 'upstream_timeout'));
  }

  protected override clientLeft(): void {
    this.#fail(new GatewayError('upstream_interrupted'));
  }

  protected override stopped(): void {
    this.#fail(new GatewayError('shutting_down'));
  }

  #fail(error: GatewayError): void {
    this.abort();
    if (!this.relay) return this.#options.reject(error);
    this.relay.body.destroy();
    this.#options.response.destroy();
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
