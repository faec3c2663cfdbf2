import { execFileSync } from 'node:child_process';
import { hostname } from 'node:os';
import type { Liveness } from '../liveness.ts';

/** Start of a process as `ps` prints it; undefined for one that has ended. */
type ReadStart = (pid: number) => string | undefined;

/**
 * The liveness of a system without `/proc`, such as macOS, where `ps` shows when a process started.
 * Undefined where there is no `ps` either.
 */
export function createPsLiveness(readStart: ReadStart = readWithPs): Liveness | undefined {
  const { pid } = process;
  const started = readStart(pid);
  if (started === undefined) return undefined;
  const host = hostname();
  return {
    own: { host, pid, started },
    isGone: (place) => place.host === host && readStart(place.pid) !== place.started,
  };
}

/** Reads `S Sun Nov 29 12:00:00 2026`: the state, which begins with Z for an ended process, then the start. */
function readWithPs(pid: number): string | undefined {
  const args = ['-o', 'stat=,lstart=', '-p', String(pid)];
  const env = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };
  try {
    const line = execFileSync('ps', args, { encoding: 'utf8', env, stdio: 'pipe' }).trim();
    const [state = 'Z', ...start] = line.split(/\s+/);
    return state.startsWith('Z') ? undefined : start.join(' ');
  } catch {
    return undefined;
  }
}
