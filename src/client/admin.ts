import { deleteOnce } from './http/delete-once.ts';
import type { Http, HttpCall } from './http/http.ts';
import { hasStrings, isPageOf } from './http/guards.ts';
import { eachItem } from './http/pages.ts';

/** A resource as the server shows it; the fields of a kind come in addition to these. */
export interface ResourceView {
  id: string;
  type: string;
  name: string;
  version: number;
  labels: Record<string, string>;
  created_at: string;
  updated_at: string;
  [field: string]: unknown;
}

export type ListFilters = Record<string, string | number | readonly string[] | undefined>;

/** One resource kind of the admin API. `id` may be the id or the exact name. */
export interface AdminClient {
  /** Every match, all pages followed. */
  list(filters?: ListFilters, signal?: AbortSignal): AsyncGenerator<ResourceView, void, undefined>;
  get(id: string, signal?: AbortSignal): Promise<ResourceView>;
  /** Throws `conflict` when the name is taken. `idempotencyKey` is the same for every try of one creation. */
  create(
    body: Record<string, unknown>,
    signal?: AbortSignal,
    idempotencyKey?: string,
  ): Promise<ResourceView>;
  /** Changes only the members of `body`. With `expected_version` in it a stale write throws `conflict`. */
  update(id: string, body: Record<string, unknown>, signal?: AbortSignal): Promise<ResourceView>;
  delete(id: string, signal?: AbortSignal): Promise<void>;
  /** `POST …/{id}/{name}`, for example `revoke` of a key. */
  action(id: string, name: string, signal?: AbortSignal): Promise<ResourceView>;
  /** Calls below one of them. */
  below(id: string): BelowClient;
  /** Creates one by a form, for kinds that are files. */
  upload(form: FormData, signal?: AbortSignal): Promise<ResourceView>;
}

/** Calls below one resource: versions, contents, actions with a body. `path` is encoded already. */
export interface BelowClient {
  list(path: string, signal?: AbortSignal): AsyncGenerator<BelowView, void, undefined>;
  post(path: string, body: BelowBody, signal?: AbortSignal): Promise<BelowView>;
  bytes(path: string, signal?: AbortSignal): Promise<ReadableStream<Uint8Array>>;
}

export type BelowBody = { json: Record<string, unknown> } | { form: FormData };

export interface BelowView {
  id: string;
  type: string;
  [field: string]: unknown;
}

/** Those that are not archived; all of them where each one is. */
export function preferUsable<T extends { readonly [field: string]: unknown }>(
  found: readonly T[],
): readonly T[] {
  const usable = found.filter(({ archived_at: at }) => typeof at !== 'string');
  return usable.length > 0 ? usable : found;
}

const PAGE_SIZE = 100;
const isResource = hasStrings<ResourceView>('id', 'type');
const isBelow = hasStrings<BelowView>('id', 'type');

export function createAdminClient(http: Http, path: string): AdminClient {
  const one = (id: string) => `${path}/${encodeURIComponent(id)}`;
  const send = async (
    method: string,
    at: string,
    rest: Pick<HttpCall, 'body' | 'form' | 'headers' | 'signal'>,
  ) => (await http.json({ method, path: at, ...rest }, isResource)).body;
  return {
    list: (filters, signal) =>
      eachItem(async (page) => {
        const query = { limit: PAGE_SIZE, ...filters, page };
        return (await http.json({ method: 'GET', path, query, signal }, isPageOf(isResource))).body;
      }),
    get: (id, signal) => send('GET', one(id), { signal }),
    create: (body, signal, idempotencyKey) =>
      send('POST', path, {
        body,
        signal,
        headers: idempotencyKey === undefined ? undefined : { 'idempotency-key': idempotencyKey },
      }),
    update: (id, body, signal) => send('PATCH', one(id), { body, signal }),
    action: (id, name, signal) => send('POST', `${one(id)}/${name}`, { body: {}, signal }),
    upload: (form, signal) => send('POST', path, { form, signal }),
    below: (id) => createBelowClient(http, one(id)),
    delete: (id, signal) => deleteOnce(http, one(id), signal),
  };
}

function createBelowClient(http: Http, base: string): BelowClient {
  return {
    list: (path, signal) =>
      eachItem(async (page) => {
        const query = { limit: PAGE_SIZE, page };
        const call = { method: 'GET', path: `${base}/${path}`, query, signal };
        return (await http.json(call, isPageOf(isBelow))).body;
      }),
    async post(path, sent, signal) {
      const body = 'json' in sent ? { body: sent.json } : { form: sent.form };
      const call = { method: 'POST', path: `${base}/${path}`, ...body, signal };
      return (await http.json(call, isBelow)).body;
    },
    async bytes(path, signal) {
      return (await http.stream({ method: 'GET', path: `${base}/${path}`, signal })).body;
    },
  };
}
