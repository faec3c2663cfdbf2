import { ClientError } from './client-error.ts';
import { collect } from './pages.ts';
import { canGoOn } from './read-on.ts';
import type { Patience } from './read-on.ts';
import { sleep } from './sleep.ts';

export interface WatchOptions {
  /** RFC 3339: begins with what there is since then. Default: only what happens from now on. */
  readonly from?: string | undefined;
  /** Milliseconds between two looks. */
  readonly intervalMs: number;
  /** Receives the error of a look that is repeated. */
  onTrouble(error: ClientError): void;
  readonly signal?: AbortSignal | undefined;
}

/** List, newest first, of items that change their state until they are decided. */
export interface Watched<T> {
  /** Those since a time; `newest`: the first alone will do. */
  list(since: string | undefined, newest: boolean): AsyncIterable<T>;
  /** Instant at which it appeared, RFC 3339. */
  timeOf(item: T): string;
  stateOf(item: T): string;
  isPending(item: T): boolean;
  /** Milliseconds by which items of several processes can come to the list out of their order. */
  readonly disorderMs: number;
}

/** Every item as it appears, oldest first, and once more when its state changes. Never ends by itself. */
export async function* watchList<T extends { id: string }>(
  watched: Watched<T>,
  { from, intervalMs, onTrouble, signal, clock }: WatchOptions & Pick<Patience, 'clock'>,
): AsyncGenerator<T, never, undefined> {
  const { list, stateOf, timeOf } = watched;
  const seen = new Map<string, T>();
  /** Items that are new since the look before. */
  const look = async (since: string | undefined): Promise<T[]> => {
    const items = await collect(list(since, false));
    const news = items.filter((item) => {
      const before = seen.get(item.id);
      seen.set(item.id, item);
      return !before || stateOf(before) !== stateOf(item);
    });
    return news.reverse();
  };
  let since = from;
  // The first look without a time only finds out what is there already.
  let isFirst = from === undefined;
  for (;;) {
    try {
      if (isFirst) since = horizonOf(await collect(list(undefined, true), 1), watched);
      const news = await look(since);
      if (!isFirst) yield* news;
      isFirst = false;
      since = horizonOf([...seen.values()], watched) ?? since;
      for (const [id, item] of seen)
        if (since !== undefined && timeOf(item) < since) seen.delete(id);
    } catch (thrown) {
      if (!(thrown instanceof ClientError) || !canGoOn(thrown)) throw thrown;
      onTrouble(thrown);
    }
    await sleep(clock, intervalMs, signal);
  }
}

/** Finds the instant from which the next look asks: a bit before the newest, or since a pending one. */
function horizonOf<T>(
  items: readonly T[],
  { timeOf: instantOf, isPending, disorderMs }: Omit<Watched<T>, 'list' | 'stateOf'>,
): string | undefined {
  if (items.length === 0) return undefined;
  const timeOf = (item: T) => Date.parse(instantOf(item));
  const newest = items.reduce((latest, item) => Math.max(latest, timeOf(item)), 0);
  const open = items.filter((item) => isPending(item)).map(timeOf);
  const horizon = open.reduce((first, at) => Math.min(first, at), newest - disorderMs);
  return new Date(horizon).toISOString();
}
