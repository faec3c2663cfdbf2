import type { Entry, Key, Store } from '../../store/store.ts';

const PAGE = 1_000;

export interface ReadRowsOptions {
  /** Start strictly behind this key in the direction of travel. */
  after?: Key | undefined;
  /** Default false. */
  reverse?: boolean;
}

/** The entries below a prefix, read page by page. Rejects with `StoreError`. */
export async function* readRows<T>(
  store: Pick<Store, 'list'>,
  prefix: Key,
  { after, reverse = false }: ReadRowsOptions = {},
): AsyncGenerator<Entry<T>> {
  let last = after;
  for (;;) {
    const page = await store.list<T>({
      prefix,
      limit: PAGE,
      reverse,
      ...(last ? { after: last } : {}),
    });
    yield* page;
    last = page.at(-1)?.key;
    if (page.length < PAGE) return;
  }
}
