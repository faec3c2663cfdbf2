import type { Entry, Key, Store } from '../../store/store.ts';

const PAGE = 1_000;
const GROWTH = 4;

export interface ReadRowsOptions {
  /** Start strictly after this key in the direction of travel. */
  after?: Key | undefined;
  /** Default false. */
  reverse?: boolean;
  /** Rows that are probably enough; where they are not, more are read at a time. Default 1,000. */
  enough?: number | undefined;
}

/** The entries below a prefix, read page by page. Rejects with `StoreError`. */
export async function* readRows<T>(
  store: Pick<Store, 'list'>,
  prefix: Key,
  { after, reverse = false, enough = PAGE }: ReadRowsOptions = {},
): AsyncGenerator<Entry<T>> {
  let last = after;
  for (let limit = Math.min(enough, PAGE); ; limit = Math.min(limit * GROWTH, PAGE)) {
    const page = await store.list<T>({
      prefix,
      limit,
      reverse,
      ...(last ? { after: last } : {}),
    });
    yield* page;
    last = page.at(-1)?.key;
    if (page.length < limit) return;
  }
}
