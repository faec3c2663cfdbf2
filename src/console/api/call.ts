import type { ApiPath, WirePath } from './calls.ts';

/** Prefix below which the cookie counts. */
const PREFIX = '/console/api';

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

export type Query = Record<string, string | number | undefined>;

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
  /** The session that the cookie stands for, which is the console's own. */
  json<T>(path: '/session', sent?: Sent): Promise<T>;
  /** The answer as it is, whatever its status. Throws `ApiError` where none came. */
  answer(path: WirePath, sent: Sent & { readonly method: 'POST' }): Promise<Response>;
}

export interface ApiDeps {
  readonly fetch: typeof fetch;
  csrf(): string;
  /** Told of every answer that asks for a new sign-in. */
  onSignedOut(message: string): void;
}

export function createApi({ fetch, csrf, onSignedOut }: ApiDeps): Api {
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
          ...(method !== 'GET' && { 'x-gateway-csrf': csrf() }),
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
  return {
    answer,
    async json<T>(path: string, sent?: Sent) {
      const response = await answer(path, sent);
      if (response.ok) return (response.status === 204 ? undefined : await response.json()) as T;
      const error = await readError(response);
      if (response.status === 401 && path !== '/session') onSignedOut(error.message);
      throw error;
    },
  };
}

/** What an answer says of its refusal, in whichever envelope. */
export async function readError(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '');
  const { status } = response;
  const fallback = `the gateway answered ${status}`;
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error === 'string') return new ApiError({ status, code: 'refused', message: error });
    const { type, code, message } = (error ?? {}) as Record<string, unknown>;
    return new ApiError({
      status,
      code: [code, type].find((one) => typeof one === 'string') ?? 'refused',
      message: typeof message === 'string' ? message : fallback,
    });
  } catch {
    return new ApiError({ status, code: 'refused', message: fallback });
  }
}

export function toSearch(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') search.set(name, String(value));
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}
