import { encodeSegments } from './key-codec.ts';
import { toId } from './prepare-commit.ts';
import type { Key } from './store.ts';

/** Waiters for changes in this process. Calls are made in a later turn, once per burst. */
export interface Watchers {
  /** Zero lets a backend skip collecting what changed. */
  readonly size: number;
  add(prefix: Key, listener: () => void): () => void;
  /** Wakes the listeners of a prefix of `id`, an encoded key. */
  changed(id: string): void;
  /** Wakes the listeners that a key which begins with the whole segments of `head` may concern. */
  changedBelow(head: string): void;
  changedAnything(): void;
  close(): void;
}

interface Watcher {
  readonly listener: () => void;
  active: boolean;
  awake: boolean;
}

/** Marks in an encoded key before and after a string. */
const STRING = '\x20';
const END = '\0';
/** Mark after a NUL in an encoded key: the segment continues. */
const GOES_ON = '\xff';

export function createWatchers(): Watchers {
  const byPrefix = new Map<string, Set<Watcher>>();
  const lengths = new PrefixLengths();
  let size = 0;

  function remove(prefix: string, watcher: Watcher): void {
    if (!watcher.active) return;
    watcher.active = false;
    size--;
    const group = byPrefix.get(prefix);
    group?.delete(watcher);
    if (group?.size !== 0) return;
    byPrefix.delete(prefix);
    lengths.count(prefix, -1);
  }

  function changed(id: string): void {
    wakeAll(byPrefix.get(''));
    for (const length of lengths.of(id)) {
      if (length > id.length || id[length] === GOES_ON) continue;
      wakeAll(byPrefix.get(id.slice(0, length)));
    }
  }

  return {
    get size() {
      return size;
    },
    add(key, listener) {
      const prefix = toId(encodeSegments(key));
      const watcher: Watcher = { listener, active: true, awake: false };
      const group = byPrefix.get(prefix);
      if (group) group.add(watcher);
      else {
        byPrefix.set(prefix, new Set([watcher]));
        lengths.count(prefix, 1);
      }
      size++;
      return () => remove(prefix, watcher);
    },
    changed,
    changedBelow(head) {
      changed(head);
      for (const [prefix, group] of byPrefix) if (prefix.startsWith(head)) wakeAll(group);
    },
    changedAnything() {
      for (const group of byPrefix.values()) wakeAll(group);
    },
    close() {
      for (const group of byPrefix.values()) for (const watcher of group) watcher.active = false;
      byPrefix.clear();
      lengths.clear();
      size = 0;
    },
  };
}

/** Number of prefixes of each length by the beginning of keys: the only positions to cut a key at. */
class PrefixLengths {
  readonly #counts = new Map<string, Map<number, number>>();

  count(prefix: string, by: number): void {
    const beginning = beginningOf(prefix);
    const counts = this.#counts.get(beginning) ?? new Map<number, number>();
    const number = (counts.get(prefix.length) ?? 0) + by;
    if (number > 0) this.#counts.set(beginning, counts.set(prefix.length, number));
    else if (counts.delete(prefix.length) && counts.size === 0) this.#counts.delete(beginning);
  }

  of(id: string): Iterable<number> {
    return this.#counts.get(beginningOf(id))?.keys() ?? [];
  }

  clear(): void {
    this.#counts.clear();
  }
}

/** The first segment where it is a string, else its kind: the same for a key and all its prefixes but the empty one. */
function beginningOf(id: string): string {
  return id.startsWith(STRING) ? id.slice(0, id.indexOf(END) + 1) : id.slice(0, 1);
}

function wakeAll(group: Set<Watcher> | undefined): void {
  if (group) for (const watcher of group) wake(watcher);
}

function wake(watcher: Watcher): void {
  if (watcher.awake) return;
  watcher.awake = true;
  setImmediate(() => {
    watcher.awake = false;
    if (watcher.active) watcher.listener();
  });
}
