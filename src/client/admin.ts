import { ClientError } from './client-error.ts';
import type { Http, HttpCall } from './http.ts';
import { hasStrings, isPageOf } from './guards.ts';
import { eachItem } from './pages.ts';

/** A resource as the server shows it; the fields of a kind stand beside these. */
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
  /** Throws `conflict` when the name is taken. */
  create(body: Record<string, unknown>, signal?: AbortSignal): Promise<ResourceView>;
  /** Only the members of `body` change. With `expected_version` in it a stale write throws `conflict`. */
  update(id: string, body: Record<string, unknown>, signal?: AbortSignal): Promise<ResourceView>;
  delete(id: string, signal?: AbortSignal): Promise<void>;
  /** `POST …/{id}/{name}`, for example `revoke` of a key. */
  action(id: string, name: string, signal?: AbortSignal): Promise<ResourceView>;
}

const PAGE_SIZE = 100;
const isResource = hasStrings<ResourceView>('id', 'type');
const isDeleted = hasStrings('id');

export function createAdminClient(http: Http, path: string): AdminClient {
  const one = (id: string) => `${path}/${encodeURIComponent(id)}`;
  const send = async (method: string, at: string, rest: Pick<HttpCall, 'body' | 'signal'>) =>
    (await http.json({ method, path: at, ...rest }, isResource)).body;
  return {
    list: (filters, signal) =>
      eachItem(async (page) => {
        const query = { limit: PAGE_SIZE, ...filters, page };
        return (await http.json({ method: 'GET', path, query, signal }, isPageOf(isResource))).body;
      }),
    get: (id, signal) => send('GET', one(id), { signal }),
    create: (body, signal) => send('POST', path, { body, signal }),
    update: (id, body, signal) => send('PATCH', one(id), { body, signal }),
    action: (id, name, signal) => send('POST', `${one(id)}/${name}`, { body: {}, signal }),
    async delete(id, signal) {
      try {
        await http.json({ method: 'DELETE', path: one(id), signal }, isDeleted);
      } catch (thrown) {
        // A repeated delete finds nothing when the lost first one took effect.
        const done = thrown instanceof ClientError && thrown.status === 404 && thrown.attempts > 1;
        if (!done) throw thrown;
      }
    },
  };
}
