import type { Key, Store } from '../../store/store.ts';

/** Sorts after every text that names something. */
const LAST = '\u{10ffff}';

/**
 * The different segments directly after a prefix, in their order, by one short list each.
 *
 * @param first the first one that counts. Default: all
 */
export async function* listHeads(
  store: Pick<Store, 'list'>,
  prefix: Key,
  first?: string,
): AsyncGenerator<string> {
  let after: Key | undefined = first === undefined ? undefined : [...prefix, first];
  for (;;) {
    const [entry] = await store.list({ prefix, limit: 1, ...(after && { after }) });
    const head = entry?.key[prefix.length];
    if (head === undefined) return;
    yield String(head);
    after = [...prefix, head, LAST];
  }
}
