import { readdirSync, statSync, watch } from 'node:fs';
import type { FSWatcher, Stats } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import type { Clock, Timer } from '../../core/time/clock.ts';

/** Editors write in several steps, and a mounted ConfigMap is swapped as a whole directory. */
const SETTLE_MS = 200;

export interface FileWatch {
  /**
   * Looks at these files from now on, in place of the former ones. A pending change is reported.
   * Throws the error of the file system for a directory that cannot be watched; then the former
   * files stay watched.
   */
  follow(files: readonly string[]): void;
  close(): void;
}

/**
 * Calls `onChange` shortly after any of the files changed, came or went, or a neighbour of it with the
 * same ending. Other neighbours, such as a log that is written there, are nothing to it.
 */
export function watchFiles(
  files: readonly string[],
  { cwd, clock, onChange }: { cwd: string; clock: Clock; onChange: () => void },
): FileWatch {
  let timer: Timer | undefined;
  let watched: string[] = [];
  let known = new Map<string, string>();
  const watchers = new Map<string, FSWatcher>();
  const look = (): void => {
    const now = stateOf(watched);
    if (isSame(now, known)) return;
    known = now;
    onChange();
  };
  const changed = (): void => {
    timer?.cancel();
    timer = clock.setTimeout(look, SETTLE_MS);
  };
  const open = (directory: string): void => {
    const watcher = watch(directory, changed);
    watcher.on('error', changed);
    watchers.set(directory, watcher);
  };
  const close = (directory: string): void => {
    watchers.get(directory)?.close();
    watchers.delete(directory);
  };
  const follow = (named: readonly string[]): void => {
    const next = named.map((file) => resolve(cwd, file));
    const directories = new Set(next.map((file) => dirname(file)));
    const added = [...directories].filter((directory) => !watchers.has(directory));
    try {
      added.forEach(open);
    } catch (error) {
      added.forEach(close);
      throw error;
    }
    for (const directory of watchers.keys()) if (!directories.has(directory)) close(directory);
    watched = next;
    const now = stateOf(watched);
    const before = known;
    known = new Map([...now].map(([file, state]) => [file, before.get(file) ?? state]));
    if (!isSame(now, known)) changed();
  };
  follow(files);
  return {
    follow,
    close() {
      timer?.cancel();
      [...watchers.keys()].forEach(close);
    },
  };
}

/** State of the files and of their neighbours with the same ending, by path. */
function stateOf(files: readonly string[]): Map<string, string> {
  const all = new Set(files);
  for (const directory of new Set(files.map((file) => dirname(file)))) {
    const inside = files.filter((file) => dirname(file) === directory);
    // Without an ending there is no kind: what lies next to `.env` may be the data directory.
    const endings = new Set(inside.map((file) => extname(file)).filter((ending) => ending !== ''));
    for (const name of namesIn(directory))
      if (endings.has(extname(name))) all.add(join(directory, name));
  }
  return new Map(
    [...all].map((file) => {
      const { ino, size, mtimeMs, ctimeMs } = statOf(file) ?? {};
      return [file, JSON.stringify([ino, size, mtimeMs, ctimeMs])];
    }),
  );
}

function isSame(one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean {
  return one.size === other.size && [...one].every(([file, state]) => other.get(file) === state);
}

/** Follows links, as those of a mounted ConfigMap; undefined for what cannot be seen. */
function statOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
