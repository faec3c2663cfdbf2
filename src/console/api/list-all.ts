import { collect, eachItem } from '../../client/http/pages.ts';
import type { Api, Sent } from './call.ts';
import type { ApiPath } from './calls.ts';
import type { Page } from './views.ts';

/** Rows that most lists of the gateway give at a time. */
export const PAGE_ROWS = 100;
/** Rows that a page of the console shows at most; a browser is slow with more. */
export const MOST_ROWS = 10_000;

/** Rows of a list of the gateway. */
export interface Listed<Item> {
  readonly rows: readonly Item[];
  /** True where the list has more. */
  readonly isCut: boolean;
}

export const NO_ROWS: Listed<never> = { rows: [], isCut: false };

/** Reads a list page by page, up to {@link MOST_ROWS}. */
export async function listAll<Item>(
  api: Pick<Api, 'json'>,
  path: ApiPath<'GET'>,
  { query, signal }: Pick<Sent, 'query' | 'signal'>,
): Promise<Listed<Item>> {
  const items = eachItem((page) =>
    api.json<Page<Item>>(path, {
      query: { limit: PAGE_ROWS, ...query, page },
      ...(signal && { signal }),
    }),
  );
  // One more shows whether there are others.
  const found = await collect(items, MOST_ROWS + 1);
  return { rows: found.slice(0, MOST_ROWS), isCut: found.length > MOST_ROWS };
}
