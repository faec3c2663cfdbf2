import { watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Clock, Timer } from '../../core/time/clock.ts';

/** Editors write in several steps, and a mounted ConfigMap is swapped as a whole directory. */
const SETTLE_MS = 200;

/** Calls `onChange` shortly after any of the files, or a neighbour of it, changed. */
export function watchFiles(
  files: readonly string[],
  { cwd, clock, onChange }: { cwd: string; clock: Clock; onChange: () => void },
): { close(): void } {
  let timer: Timer | undefined;
  const changed = (): void => {
    timer?.cancel();
    timer = clock.setTimeout(onChange, SETTLE_MS);
  };
  const directories = new Set(files.map((file) => dirname(resolve(cwd, file))));
  const watchers: FSWatcher[] = [...directories].map((directory) => watch(directory, changed));
  for (const watcher of watchers) watcher.on('error', changed);
  return {
    close() {
      timer?.cancel();
      for (const watcher of watchers) watcher.close();
    },
  };
}
