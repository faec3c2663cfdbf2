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

/** Mark behind a NUL in an encoded key: the segment goes on. */
const GOES_ON = '\xff';

export function createWatchers(): Watchers {
  const byPrefix = new Map<string, Set<Watcher>>();
  /** Number of prefixes of each length: the only places to cut a key at. */
  const lengths = new Map<number, number>();
  let size = 0;

  function remove(prefix: string, watcher: Watcher): void {
    if (!watcher.active) return;
    watcher.active = false;
    size--;
    const group = byPrefix.get(prefix);
    group?.delete(watcher);
    if (group?.size !== 0) return;
    byPrefix.delete(prefix);
    const count = lengths.get(prefix.length) ?? 0;
    if (count > 1) lengths.set(prefix.length, count - 1);
    else lengths.delete(prefix.length);
  }

  function changed(id: string): void {
    for (const length of lengths.keys()) {
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
        lengths.set(prefix.length, (lengths.get(prefix.length) ?? 0) + 1);
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
