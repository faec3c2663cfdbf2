import { parseKeepingDigits } from '../../core/json/digits.ts';
import { stringifyWithRaw } from '../../core/json/raw.ts';
import type { Clock } from '../../core/time/clock.ts';
import { ClientError } from './client-error.ts';
import { toConnectionError, type LostCall } from './connection-error.ts';
import { fromErrorBody } from './error-body.ts';
import { DEFAULT_RETRY, parseRetryAfter, retryDelay, type RetryPolicy } from './retry.ts';
import type { Guard } from './guards.ts';
import { withDeadline } from './deadline.ts';
import { sleep } from './sleep.ts';
import type { Reply, Sending, Transport } from './transport.ts';

export interface HttpOptions {
  /** Origin and optional path of the server, without `/v1`. */
  baseUrl: string;
  /** Value of `Authorization: Bearer …`; undefined sends none. */
  apiKey?: string | undefined;
  /** Default that of Node.js. */
  fetch?: typeof globalThis.fetch | undefined;
  /** Sends every call but those with a form in place of `fetch`. */
  transport?: Transport | undefined;
  clock: Clock;
  /** Milliseconds until a call without an answer is given up; default 60,000. Streams: until the head. */
  timeoutMs?: number | undefined;
  retry?: Partial<RetryPolicy> | undefined;
  random?: (() => number) | undefined;
  userAgent?: string | undefined;
  /**
   * Receives a line for every attempt: method, path, status and milliseconds; never headers or
   * bodies.
   */
  trace?: ((line: string) => void) | undefined;
}

export interface HttpCall {
  method: string;
  /** Absolute path below the base URL, already encoded. */
  path: string;
  query?: Record<string, string | number | readonly string[] | undefined> | undefined;
  /** JSON body. */
  body?: unknown;
  /** JSON text in place of `body`, sent as it is. */
  bodyText?: string | undefined;
  /** Form in place of `body`; not repeated. */
  form?: FormData | undefined;
  /** Headers in addition to those of every call. */
  headers?: Record<string, string> | undefined;
  signal?: AbortSignal | undefined;
}

export interface HttpAnswer<T> {
  status: number;
  requestId: string | undefined;
  contentType: string;
  body: T;
}

/** Sends calls to one server. Failures, an answer of 4xx or 5xx included, are {@link ClientError}s. */
export interface Http {
  /** The body as text. Idempotent calls are repeated by the rules of {@link retryDelay}. */
  text(call: HttpCall): Promise<HttpAnswer<string>>;
  /** The body as it is; otherwise as `text`. */
  bytes(call: HttpCall): Promise<HttpAnswer<Uint8Array>>;
  /** The parsed body. Throws `invalid_response` when it is not what `guard` expects. */
  json<T>(call: HttpCall, guard: Guard<T>): Promise<HttpAnswer<T>>;
  /** The body as a stream of bytes; sent once. */
  stream(call: HttpCall): Promise<HttpAnswer<ReadableStream<Uint8Array>>>;
}

const DEFAULT_TIMEOUT_MS = 60_000;

export function createHttp(options: HttpOptions): Http {
  const policy = { ...DEFAULT_RETRY, ...options.retry };
  const random = options.random ?? Math.random;
  const send = createSender(options);

  async function whole<T>(call: HttpCall, read: Attempt<T>['read']): Promise<HttpAnswer<T>> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await send(call, { attempt, read });
      } catch (thrown) {
        if (!(thrown instanceof ClientError)) throw thrown;
        const pause = retryDelay(thrown, { method: call.method, policy, random });
        if (pause === undefined) throw thrown;
        options.trace?.(`waiting ${pause} ms before attempt ${attempt + 1}`);
        await sleep(options.clock, pause, call.signal);
      }
    }
  }

  const text = (call: HttpCall) => whole(call, (reply) => reply.text());

  return {
    text,
    bytes: (call) => whole(call, readBytes),
    async json(call, guard) {
      const answer = await text(call);
      return { ...answer, body: parseJson(answer, guard) };
    },
    stream: (call) =>
      send(call, {
        attempt: 1,
        read: async ({ body }) => {
          const toError = (thrown: unknown) =>
            toConnectionError(thrown, { ...lostCall(options, call), expired: false, attempts: 1 });
          return body === null ? new Blob([]).stream() : withErrors(body, toError);
        },
      }),
  };
}

async function readBytes({ body }: Reply): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function lostCall(
  { baseUrl }: HttpOptions,
  { method, signal }: HttpCall,
): Pick<LostCall, 'server' | 'aborted' | 'isRead'> {
  const isRead = method === 'GET' || method === 'HEAD';
  return { server: baseUrl, aborted: signal?.aborted ?? false, isRead };
}

interface Attempt<T> {
  attempt: number;
  read: (reply: Reply) => Promise<T>;
}

type Send = <T>(call: HttpCall, sending: Attempt<T>) => Promise<HttpAnswer<T>>;

function createSender(options: HttpOptions): Send {
  const headers = {
    accept: 'application/json, text/event-stream;q=0.9',
    'user-agent': options.userAgent ?? 'gateway-client',
    ...(options.apiKey !== undefined && { authorization: `Bearer ${options.apiKey}` }),
  };
  return async (call, { attempt, read }) => {
    const started = options.clock.monotonic();
    const deadline = withDeadline(
      options.clock,
      options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      call.signal,
    );
    let outcome = 'no answer';
    const { body, bodyText = body === undefined ? undefined : stringifyWithRaw(body) } = call;
    try {
      const response = await exchange(options, call, {
        method: call.method,
        headers: {
          ...headers,
          ...(bodyText !== undefined && { 'content-type': 'application/json' }),
          ...call.headers,
        },
        body: bodyText,
        signal: deadline.signal,
      });
      outcome = String(response.status);
      if (response.status < 200 || response.status > 299)
        throw await toHttpError(response, options.clock.now(), attempt);
      const { status } = response;
      return { ...metaOf(response), status, body: await read(response) };
    } catch (thrown) {
      if (thrown instanceof ClientError) throw thrown;
      throw toConnectionError(thrown, {
        ...lostCall(options, call),
        expired: deadline.expired(),
        attempts: attempt,
      });
    } finally {
      deadline.clear();
      const ms = Math.round(options.clock.monotonic() - started);
      // Parameters may hold secrets, and none of them is needed to tell the calls apart.
      const [path] = call.path.split('?');
      options.trace?.(`${call.method} ${path} → ${outcome} (${ms} ms)`);
    }
  };
}

async function exchange(
  { fetch, transport, baseUrl }: HttpOptions,
  { path, query, form }: HttpCall,
  sending: Sending,
): Promise<Reply> {
  const url = join(baseUrl, path, query);
  if (transport !== undefined && form === undefined) return transport(url, sending);
  const { sendWithFetch } = await import('./fetch-transport.ts');
  return sendWithFetch(url, { ...sending, form }, fetch ?? globalThis.fetch);
}

function metaOf(response: Reply): { requestId: string | undefined; contentType: string } {
  return {
    requestId: response.headers.get('x-request-id') ?? undefined,
    contentType: response.headers.get('content-type') ?? '',
  };
}

async function toHttpError(response: Reply, now: number, attempts: number): Promise<ClientError> {
  return new ClientError({
    ...fromErrorBody(response.status, await response.text()),
    status: response.status,
    requestId: metaOf(response).requestId,
    attempts,
    retryAfterMs: parseRetryAfter(response.headers.get('retry-after'), now),
    final: response.headers.get('x-should-retry') === 'false',
  });
}

function parseJson<T>(answer: HttpAnswer<string>, guard: Guard<T>): T {
  try {
    const body = parseKeepingDigits(answer.body);
    if (guard(body)) return body;
  } catch {
    // Reported below, together with JSON of another shape.
  }
  const message = 'the server did not answer as a gateway does; is this its address?';
  const { status, requestId } = answer;
  throw new ClientError({ code: 'invalid_response', message, status, requestId });
}

function join(baseUrl: string, path: string, query: HttpCall['query']): string {
  const url = baseUrl.replace(/(?<!\/)\/+$/, '') + (path.startsWith('/') ? path : `/${path}`);
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined) parameters.append(name, String(item));
    }
  }
  const text = parameters.toString();
  return text === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${text}`;
}

/** The same bytes; an error of the body is what `toError` makes of it. */
function withErrors(
  body: ReadableStream<Uint8Array>,
  toError: (thrown: unknown) => Error,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) controller.close();
        else controller.enqueue(value);
      } catch (thrown) {
        controller.error(toError(thrown));
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}
