import { statSync } from 'node:fs';
import type { Stats } from 'node:fs';

/**
 * A file or directory that may be missing; undefined also where this user may not look, so that a
 * command that needs nothing there runs without it.
 */
export function statSeen(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
