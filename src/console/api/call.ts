import type { ApiPath, WirePath } from './calls.ts';
import { createJoinedReads } from './join-reads.ts';
import type { Told } from './join-reads.ts';
import type { ConsoleSession } from './views.ts';

/** Prefix below which the cookie counts. */
const PREFIX = '/console/api';
/** The session of the cookie. */
const SESSION = '/session';

/** A refusal, with the words that the command line would say. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** Undefined where no answer came. */
  readonly status: number | undefined;
  readonly code: string;

  constructor(details: { status?: number | undefined; code: string; message: string }) {
    super(details.message);
    this.status = details.status;
    this.code = details.code;
  }
}

/** A list is sent value by value. */
export type Query = Record<string, string | number | readonly string[] | undefined>;

export interface Sent {
  readonly method?: string;
  readonly query?: Query;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

export interface Api {
  /** The JSON of an answer. Throws `ApiError`. */
  json<T>(path: ApiPath<'GET'>, sent?: Sent & { readonly method?: never }): Promise<T>;
  json<T>(path: ApiPath<'POST'>, sent: Sent & { readonly method: 'POST' }): Promise<T>;
  /** The session of the cookie, which is the console's own. */
  json<T>(path: '/session', sent?: Sent): Promise<T>;
  /** The answer as it is, whatever its status. Throws `ApiError` where none came. */
  answer(path: WirePath, sent: Sent & { readonly method: 'POST' }): Promise<Response>;
}

export interface ApiDeps {
  readonly fetch: typeof fetch;
  /** Session that the page shows. */
  session(): Pick<ConsoleSession, 'id' | 'csrf'> | null | undefined;
  /** Callback for every answer that asks for a new sign-in. */
  onSignedOut(message: string): void;
}

/** Headers that say for which session a page asks; the cookie may be that of a later one. */
export function headersOf(session: string): Record<string, string> {
  return session === '' ? {} : { 'x-gateway-console-session': session };
}

export function createApi({ fetch, session, onSignedOut }: ApiDeps): Api {
  const answer = async (
    path: string,
    { method = 'GET', query, body, headers, signal }: Sent = {},
  ): Promise<Response> => {
    try {
      return await fetch(`${PREFIX}${path}${toSearch(query)}`, {
        method,
        credentials: 'same-origin',
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headersOf(session()?.id ?? ''),
          ...(method !== 'GET' && { 'x-gateway-csrf': session()?.csrf ?? '' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        ...(signal && { signal }),
      });
    } catch (thrown) {
      if (signal?.aborted) throw thrown;
      const message = 'the gateway does not answer; find out why with: gateway doctor';
      throw new ApiError({ code: 'unreachable', message });
    }
  };
  const read = createJoinedReads(async (target, signal) =>
    toTold(await answer(target, { signal })),
  );
  return {
    answer,
    async json<T>(path: string, sent: Sent = {}) {
      const { method = 'GET', query, signal } = sent;
      const isRead = method === 'GET' && path !== SESSION;
      const { status, body } = isRead
        ? await read(path + toSearch(query), signal)
        : await toTold(await answer(path, sent));
      if (status < 400) return body as T;
      const error = toError(status, body);
      if (status === 401 && path !== SESSION) onSignedOut(error.message);
      throw error;
    },
  };
}

async function toTold(response: Response): Promise<Told> {
  const { status } = response;
  const text = await response.text();
  if (text === '') return { status, body: undefined };
  try {
    return { status, body: JSON.parse(text) };
  } catch (thrown) {
    if (response.ok) throw thrown;
    return { status, body: undefined };
  }
}

/** Reads an answer's words about its refusal, in whichever envelope. */
function toError(status: number, body: unknown): ApiError {
  const { error } = (body ?? {}) as { error?: unknown };
  if (typeof error === 'string') return new ApiError({ status, code: 'refused', message: error });
  const { type, code, message } = (error ?? {}) as Record<string, unknown>;
  return new ApiError({
    status,
    code: [code, type].find((one) => typeof one === 'string') ?? 'refused',
    message: typeof message === 'string' ? message : `the gateway answered ${status}`,
  });
}

export function toSearch(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (Array.isArray(value)) for (const one of value as string[]) search.append(name, one);
    else if (value !== undefined && value !== '') search.set(name, String(value));
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}
