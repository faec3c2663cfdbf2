import { ClientError } from './client-error.ts';
import type { Page } from './guards.ts';

/**
 * Every item of a cursor list, following `next_page` to its end. A cursor that comes back is an error
 * (`invalid_response`) instead of an endless loop.
 */
export async function* eachItem<T>(
  fetchPage: (page: string | undefined) => Promise<Page<T>>,
): AsyncGenerator<T, void, undefined> {
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await fetchPage(cursor);
    yield* page.data;
    cursor = page.next_page ?? undefined;
    if (cursor !== undefined && seen.has(cursor)) {
      const message = 'the server repeated a page cursor';
      throw new ClientError({ code: 'invalid_response', message });
    }
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined);
}

/** Up to `max` items of {@link eachItem}; no page beyond them is fetched. */
export async function collect<T>(items: AsyncIterable<T>, max = Infinity): Promise<T[]> {
  const all: T[] = [];
  if (max <= 0) return all;
  for await (const item of items) {
    all.push(item);
    if (all.length >= max) break;
  }
  return all;
}
