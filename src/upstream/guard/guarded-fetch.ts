import { Buffer } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { judgeCoding } from '../decoder.ts';
import { ProxyError } from '../proxy/proxy-error.ts';
import { UrlGuardError } from './url-guard-error.ts';
import type { UrlGuard } from './url-guard.ts';

export interface GuardedFetchOptions {
  /** Default GET. */
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Names in lower case. */
  headers?: Readonly<Record<string, string>>;
  body?: Buffer | string;
  /** Most bytes of the answer's body. Default 10 MiB. */
  maxBytes?: number;
  /** Takes the body of a 2xx answer piece by piece; `body` is then empty. Its errors are thrown. */
  take?: (chunk: Buffer) => Promise<void>;
  /** Time limit for everything, redirects and body included. Default 10,000 ms. */
  timeoutMs?: number;
  /** Default 3. With 0 a redirect is the answer. */
  maxRedirects?: number;
  signal?: AbortSignal;
}

export interface GuardedResponse {
  /** URL of the answer, after redirects. */
  url: string;
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export type UrlFetchFailure =
  | 'network'
  | 'timeout'
  | 'too_large'
  | 'redirects'
  /** The body that was to be taken has a content coding, which was not asked for. */
  | 'encoding'
  | 'aborted';

/** A URL that passed the guard could not be fetched. The message names no address. */
export class UrlFetchError extends Error {
  override readonly name = 'UrlFetchError';
  readonly reason: UrlFetchFailure;

  constructor(reason: UrlFetchFailure, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Most bytes of the body of a redirect, read only to keep the connection. */
const REDIRECT_BODY_BYTES = 16 * 1024;

const NOT_ASKED_FOR = 'the answer has a content coding that was not asked for';

/** Headers that another origin may see of a request that was redirected to it. */
const HARMLESS: ReadonlySet<string> = new Set(['accept', 'accept-language', 'user-agent']);

/**
 * Calls a user-supplied URL. Every hop is checked when it is named and again when it is connected
 * to; headers do not follow to another origin. Throws `UrlGuardError` or `UrlFetchError`.
 */
export async function guardedFetch(
  guard: UrlGuard,
  url: string,
  options: GuardedFetchOptions = {},
): Promise<GuardedResponse> {
  const { maxRedirects = 3, timeoutMs = 10_000, maxBytes = 10 * 1024 * 1024 } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  try {
    let hop: Hop = { url, method: 'GET', headers: {}, ...options };
    for (let redirects = 0; ; redirects++) {
      const current = await withSignal(guard.check(hop.url), signal);
      const response = await send(guard, { ...hop, url: current.href }, signal);
      const target = REDIRECTS.has(response.statusCode) ? response.headers.location : undefined;
      if (typeof target !== 'string' || maxRedirects === 0) {
        return {
          url: current.href,
          status: response.statusCode,
          headers: response.headers,
          body: await readBody(response, maxBytes, options.take),
        };
      }
      await response.body.dump({ limit: REDIRECT_BODY_BYTES, signal });
      if (redirects === maxRedirects) throw new UrlFetchError('redirects', 'too many redirects');
      hop = follow(hop, current, { target, status: response.statusCode });
    }
  } catch (error) {
    throw toFetchError(error, timeout, options.signal);
  }
}

interface Hop extends Pick<GuardedFetchOptions, 'body'> {
  url: string;
  method: Required<GuardedFetchOptions>['method'];
  headers: Readonly<Record<string, string>>;
}

async function send(
  guard: UrlGuard,
  hop: Hop,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const { request } = await import('undici');
  return request(hop.url, {
    method: hop.method,
    headers: { 'accept-encoding': 'identity', ...hop.headers },
    body: hop.body ?? null,
    dispatcher: await guard.dispatcher(),
    signal,
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function follow(hop: Hop, from: URL, { target, status }: { target: string; status: number }): Hop {
  if (!URL.canParse(target, from.href))
    throw new UrlGuardError('syntax', 'redirect to no valid URL');
  const to = new URL(target, from);
  const keepsBody =
    status === 307 || status === 308 || hop.method === 'GET' || hop.method === 'HEAD';
  const entries = Object.entries(hop.headers).filter(
    ([name]) => to.origin === from.origin || HARMLESS.has(name),
  );
  const next: Hop = { url: to.href, method: hop.method, headers: Object.fromEntries(entries) };
  if (keepsBody) return hop.body === undefined ? next : { ...next, body: hop.body };
  return { ...next, method: 'GET' };
}

async function readBody(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
  take: GuardedFetchOptions['take'],
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const isTaken = take !== undefined && statusCode <= 299;
  const isCoded = isTaken && judgeCoding(headers['content-encoding'], 'identity') === 'refuse';
  for await (const chunk of body as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (isCoded) throw new UrlFetchError('encoding', NOT_ASKED_FOR);
    if (bytes > maxBytes) {
      throw new UrlFetchError('too_large', `the answer is larger than ${maxBytes} bytes`);
    }
    if (isTaken) await take(chunk).catch(asTaker);
    else chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Failure of the taker, no fault of the network. */
class TakerError extends Error {
  override readonly name = 'TakerError';
}

function asTaker(cause: unknown): never {
  throw new TakerError('the body could not be taken', { cause });
}

/** A resolver that never answers must not outlast the timeout. */
async function withSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new UrlFetchError('aborted', 'the request was aborted'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function toFetchError(error: unknown, timeout: AbortSignal, own: AbortSignal | undefined): unknown {
  if (error instanceof UrlGuardError) return error;
  if (error instanceof TakerError) return error.cause;
  if (own?.aborted) return new UrlFetchError('aborted', 'the request was aborted');
  if (timeout.aborted) return new UrlFetchError('timeout', 'no answer in time', { cause: error });
  if (error instanceof UrlFetchError) return error;
  const text = error instanceof ProxyError ? error.message : 'the host did not answer';
  return new UrlFetchError('network', text, { cause: error });
}
