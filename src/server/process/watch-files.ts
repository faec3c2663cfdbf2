import { readdirSync, statSync, watch } from 'node:fs';
import type { FSWatcher, Stats } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import type { Clock, Timer } from '../../core/time/clock.ts';

/** Editors write in several steps, and a mounted ConfigMap is swapped as a whole directory. */
const SETTLE_MS = 200;

/**
 * Calls `onChange` shortly after any of the files changed, came or went, or a neighbour of it with the
 * same ending. Other neighbours, such as a log that is written there, are nothing to it.
 */
export function watchFiles(
  files: readonly string[],
  { cwd, clock, onChange }: { cwd: string; clock: Clock; onChange: () => void },
): { close(): void } {
  let timer: Timer | undefined;
  const watched = files.map((file) => resolve(cwd, file));
  let known = stateOf(watched);
  const look = (): void => {
    const now = stateOf(watched);
    if (now === known) return;
    known = now;
    onChange();
  };
  const changed = (): void => {
    timer?.cancel();
    timer = clock.setTimeout(look, SETTLE_MS);
  };
  const directories = new Set(watched.map((file) => dirname(file)));
  const watchers: FSWatcher[] = [...directories].map((directory) => watch(directory, changed));
  for (const watcher of watchers) watcher.on('error', changed);
  return {
    close() {
      timer?.cancel();
      for (const watcher of watchers) watcher.close();
    },
  };
}

/** Text that changes with the files and with neighbours of the same ending. */
function stateOf(files: readonly string[]): string {
  const all = new Set(files);
  for (const directory of new Set(files.map((file) => dirname(file)))) {
    const inside = files.filter((file) => dirname(file) === directory);
    const endings = new Set(inside.map((file) => extname(file)));
    for (const name of namesIn(directory))
      if (endings.has(extname(name))) all.add(join(directory, name));
  }
  const states = [...all].sort().map((file) => {
    const found = statOf(file);
    return [file, found?.ino, found?.size, found?.mtimeMs, found?.ctimeMs];
  });
  return JSON.stringify(states);
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
