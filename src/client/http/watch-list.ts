import { ClientError } from './client-error.ts';
import { collect } from './pages.ts';
import { canGoOn } from './read-on.ts';
import type { Patience } from './read-on.ts';
import { sleep } from './sleep.ts';

export interface WatchOptions {
  /** RFC 3339: begins with items since then. Default: only new ones from now on. */
  readonly from?: string | undefined;
  /** Milliseconds between two looks. */
  readonly intervalMs: number;
  /** Receives the error of a look that is repeated. */
  onTrouble(error: ClientError): void;
  readonly signal?: AbortSignal | undefined;
}

/** List, newest first, of items that change their state until they are decided. */
export interface Watched<T> {
  /** Items since a time; `most`: so many of the newest are enough. */
  list(since: string | undefined, most?: number): AsyncIterable<T>;
  /** Items that are not decided, whenever they appeared. Absent where nothing ever changes. */
  pending?(): AsyncIterable<T>;
  /** Instant at which it appeared, RFC 3339. */
  timeOf(item: T): string;
  stateOf(item: T): string;
  isPending(item: T): boolean;
  /** True for a decided item whose state still changes: it is followed by `again`, {@link MOST_OPEN} at most. */
  isOpen?(item: T): boolean;
  /** The present states of these items. */
  again?(items: readonly T[]): Promise<readonly T[]>;
  /** Milliseconds by which items of several processes can come to the list out of their order. */
  readonly disorderMs: number;
}

/** Most items whose later states are asked for, the newest: a look at them stays a few calls. */
const MOST_OPEN = 500;

/** Every item as it appears, oldest first, and once more when its state changes. Never ends by itself. */
export async function* watchList<T extends { id: string }>(
  watched: Watched<T>,
  { from, intervalMs, onTrouble, signal, clock }: WatchOptions & Pick<Patience, 'clock'>,
): AsyncGenerator<T, never, undefined> {
  const { list, stateOf, timeOf, isOpen = () => false, again = async () => [] } = watched;
  const seen = new Map<string, T>();
  /** Ids of the items under way at first, until each is listed or has ended in a state that is not listed. */
  const awaited = new Set<string>();
  /** Items that are new since the look before, or changed. */
  const look = async (since: string | undefined): Promise<{ item: T; before: T | undefined }[]> => {
    const listed = await collect(list(since));
    const known = new Set(listed.map(({ id }) => id));
    const open = [...seen.values()].filter((item) => isOpen(item) && !known.has(item.id));
    // Newest first, as the list is.
    const items = [...listed, ...(await again(open)).toReversed()];
    const news = items.flatMap((item) => {
      const before = seen.get(item.id);
      awaited.delete(item.id);
      seen.set(item.id, item);
      return before && stateOf(before) === stateOf(item) ? [] : [{ item, before }];
    });
    return news.reverse();
  };
  const byTime = (a: T, b: T): number => Date.parse(timeOf(a)) - Date.parse(timeOf(b));
  let since = from;
  // The first look without a time only finds the existing items, and those still under way.
  let isFirst = from === undefined;
  for (;;) {
    try {
      const most = watched.again ? MOST_OPEN : 1;
      const newest = isFirst ? await collect(list(undefined, most), most) : [];
      const isAsked = isFirst || awaited.size > 0;
      const pending = isAsked && watched.pending ? await collect(watched.pending()) : [];
      if (isFirst) {
        for (const item of [...newest.filter(isOpen), ...pending]) seen.set(item.id, item);
        for (const { id } of pending) awaited.add(id);
        since = horizonOf([...newest, ...pending], watched);
      }
      for (const { item, before } of await look(since)) if (!isFirst || before) yield item;
      isFirst = false;
      const going = new Set(pending.map(({ id }) => id));
      for (const id of awaited) if (!going.has(id) && awaited.delete(id)) seen.delete(id);
      const horizon = horizonOf([...seen.values()], watched) ?? since;
      since = from !== undefined && isBefore(horizon, from) ? from : horizon;
      const open = [...seen.values()].filter(isOpen);
      const kept = new Set(open.sort(byTime).slice(-MOST_OPEN));
      for (const [id, item] of seen)
        if (since !== undefined && isBefore(timeOf(item), since) && !kept.has(item))
          seen.delete(id);
    } catch (thrown) {
      if (!(thrown instanceof ClientError) || !canGoOn(thrown)) throw thrown;
      onTrouble(thrown);
    }
    await sleep(clock, intervalMs, signal);
  }
}

function isBefore(time: string | undefined, other: string): boolean {
  return time === undefined || Date.parse(time) < Date.parse(other);
}

/** Finds the instant from which the next look asks: a bit before the newest, or since a pending one. */
function horizonOf<T>(
  items: readonly T[],
  {
    timeOf: instantOf,
    isPending,
    disorderMs,
  }: Pick<Watched<T>, 'timeOf' | 'isPending' | 'disorderMs'>,
): string | undefined {
  if (items.length === 0) return undefined;
  const timeOf = (item: T) => Date.parse(instantOf(item));
  const newest = items.reduce((latest, item) => Math.max(latest, timeOf(item)), 0);
  const open = items.filter((item) => isPending(item)).map(timeOf);
  const horizon = open.reduce((first, at) => Math.min(first, at), newest - disorderMs);
  return new Date(horizon).toISOString();
}
