import { relative } from 'node:path';

/** A path as people read it: from the working directory where it is below. */
export function shownPath(path: string, cwd: string): string {
  const near = relative(cwd, path);
  return near === '' || near.startsWith('..') ? path : near;
}
