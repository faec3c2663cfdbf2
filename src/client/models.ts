import { hasStrings, isPageOf } from './guards.ts';
import type { Http } from './http.ts';

/** One line of the catalog (interface: Model catalog item). */
export interface CatalogItem {
  id: string;
  object: string;
  created: number;
  owned_by: string;
  [field: string]: unknown;
}

export interface ModelsClient {
  /** `type` '' lists every type; undefined the language models alone. */
  list(
    query?: { type?: string; vendor?: string; q?: string },
    signal?: AbortSignal,
  ): Promise<CatalogItem[]>;
  get(id: string, signal?: AbortSignal): Promise<CatalogItem>;
}

const isItem = hasStrings<CatalogItem>('id', 'object');

export function createModelsClient(http: Http): ModelsClient {
  return {
    async list(query, signal) {
      const call = { method: 'GET', path: '/v1/models', query, signal };
      return (await http.json(call, isPageOf(isItem))).body.data;
    },
    async get(id, signal) {
      const path = `/v1/models/${encodeURIComponent(id)}`;
      return (await http.json({ method: 'GET', path, signal }, isItem)).body;
    },
  };
}
