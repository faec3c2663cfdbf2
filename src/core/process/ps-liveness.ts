import { execFileSync } from 'node:child_process';
import type { Liveness, ProcessPlace } from '../liveness.ts';

/** Start of a process as `ps` prints it; undefined for one that has ended. */
type ReadStart = (pid: number) => string | undefined;

/** Host of a system that names no start of the machine: its host name can change while processes run. */
export const UNNAMED_HOST = '';

/**
 * The liveness of a system without `/proc`, such as macOS, where `ps` shows when a process started.
 * Undefined where there is no `ps` either.
 */
export function createPsLiveness(readStart: ReadStart = readWithPs): Liveness | undefined {
  const placeOf = (pid: number): ProcessPlace | undefined => {
    const started = readStart(pid);
    return started === undefined ? undefined : { host: UNNAMED_HOST, pid, started };
  };
  const own = placeOf(process.pid);
  if (own === undefined) return undefined;
  return {
    own,
    get parent() {
      return placeOf(process.ppid);
    },
    isGone: ({ pid, started }) => readStart(pid) !== started,
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
