const CHUNK = 512;

interface WalkOptions {
  /** Exclusive lower bound. */
  lower: string;
  /** Exclusive upper bound. */
  upper: string;
  reverse: boolean;
}

/** A map of strings that can be walked in key order. Do not change it during a walk. */
export interface OrderedMap<V> {
  readonly size: number;
  get(key: string): V | undefined;
  set(key: string, value: V): void;
  delete(key: string): boolean;
  walk(options: WalkOptions): IterableIterator<[string, V]>;
  /** All entries in no particular order. */
  entries(): IterableIterator<[string, V]>;
}

/**
 * Values sit in a hash map, keys in sorted chunks of bounded length: an insertion moves at most one
 * chunk's worth of keys, so it stays in the microseconds at hundreds of thousands of keys.
 */
export function createOrderedMap<V>(): OrderedMap<V> {
  const values = new Map<string, V>();
  const chunks: string[][] = [[]];

  function insert(key: string): void {
    const at = chunkFor(chunks, key);
    const chunk = chunks[at]!;
    chunk.splice(firstAtOrAbove(chunk, key), 0, key);
    if (chunk.length > CHUNK) chunks.splice(at + 1, 0, chunk.splice(CHUNK / 2));
  }

  function remove(key: string): void {
    const at = chunkFor(chunks, key);
    const chunk = chunks[at]!;
    chunk.splice(firstAtOrAbove(chunk, key), 1);
    if (chunk.length === 0 && chunks.length > 1) chunks.splice(at, 1);
  }

  return {
    get size() {
      return values.size;
    },
    get: (key) => values.get(key),
    set(key, value) {
      if (!values.has(key)) insert(key);
      values.set(key, value);
    },
    delete(key) {
      if (!values.delete(key)) return false;
      remove(key);
      return true;
    },
    entries: () => values.entries(),
    *walk({ lower, upper, reverse }) {
      for (const key of reverse ? down(chunks, upper) : up(chunks, lower)) {
        if (reverse ? key <= lower : key >= upper) return;
        yield [key, values.get(key)!];
      }
    },
  };
}

function* up(chunks: string[][], above: string): IterableIterator<string> {
  for (let c = chunkFor(chunks, above); c < chunks.length; c++) {
    const chunk = chunks[c]!;
    let i = firstAtOrAbove(chunk, above);
    if (chunk[i] === above) i++;
    for (; i < chunk.length; i++) yield chunk[i]!;
  }
}

function* down(chunks: string[][], below: string): IterableIterator<string> {
  for (let c = chunkFor(chunks, below); c >= 0; c--) {
    const chunk = chunks[c]!;
    for (let i = firstAtOrAbove(chunk, below) - 1; i >= 0; i--) yield chunk[i]!;
  }
}

/** The last chunk that does not begin above `key`; the first one when all do. */
function chunkFor(chunks: string[][], key: string): number {
  let low = 0;
  let high = chunks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (chunks[middle]![0]! <= key) low = middle;
    else high = middle - 1;
  }
  return low;
}

function firstAtOrAbove(chunk: string[], key: string): number {
  let low = 0;
  let high = chunk.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (chunk[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
