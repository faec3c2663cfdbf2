import type { Http } from './http.ts';
import { hasStrings, isPageOf } from './guards.ts';
import { eachItem } from './pages.ts';

/** The record that one inference request leaves; newer servers may add fields. */
export interface RequestRecord {
  id: string;
  created_at: string;
  model: string;
  surface: string;
  status: number | null;
  result: string;
  cost: string;
  total_ms: number | null;
  [field: string]: unknown;
}

export interface RequestsQuery {
  key?: string;
  model?: string;
  status?: string;
  organization?: string;
  /** RFC 3339. */
  from?: string;
  to?: string;
  limit?: number;
}

export interface RequestsClient {
  /** Newest first, all pages followed. */
  list(query?: RequestsQuery, signal?: AbortSignal): AsyncGenerator<RequestRecord, void, undefined>;
  get(id: string, signal?: AbortSignal): Promise<RequestRecord>;
}

const PATH = '/admin/v1/requests';
const isRecordOfRequest = hasStrings<RequestRecord>('id', 'created_at');

export function createRequestsClient(http: Http): RequestsClient {
  return {
    list: (query, signal) =>
      eachItem(async (page) => {
        const call = { method: 'GET', path: PATH, query: { ...query, page }, signal };
        return (await http.json(call, isPageOf(isRecordOfRequest))).body;
      }),
    async get(id, signal) {
      const path = `${PATH}/${encodeURIComponent(id)}`;
      return (await http.json({ method: 'GET', path, signal }, isRecordOfRequest)).body;
    },
  };
}
