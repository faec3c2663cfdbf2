import { readFileSync, readlinkSync } from 'node:fs';

/** A process, distinct from every other one that there is or was. */
export interface ProcessPlace {
  /** The machine since its start, and the space in which `pid` counts. */
  readonly host: string;
  readonly pid: number;
  /** Start in ticks of the host; a pid may be given to another process. */
  readonly started: string;
}

/** View of one process on the others. */
export interface Liveness {
  /** This process. */
  readonly own: ProcessPlace;
  /** The process that started it; absent where it cannot be seen. */
  readonly parent?: ProcessPlace | undefined;
  /** True only for a process that has ended; false, too, for one that cannot be seen from here. */
  isGone(place: ProcessPlace): boolean;
}

/** Ended, but not yet collected by its parent: nothing runs there. */
const ENDED = /^[ZXx]$/;

/** Reads the process table of the host. Undefined where the system has no `/proc`. */
export function createHostLiveness(): Liveness | undefined {
  const host = hostName();
  if (host === undefined) return undefined;
  const placeOf = (pid: number): ProcessPlace | undefined => {
    const seen = lookAt(pid);
    return seen && { host, pid, started: seen.started };
  };
  const own = placeOf(process.pid);
  if (!own) return undefined;
  return {
    own,
    get parent() {
      return placeOf(process.ppid);
    },
    isGone(place) {
      if (place.host !== host) return false;
      if (!exists(place.pid)) return true;
      const seen = lookAt(place.pid);
      return seen !== undefined && (ENDED.test(seen.state) || seen.started !== place.started);
    },
  };
}

function hostName(): string | undefined {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return undefined;
  }
}

/** True also for a process of another user, which cannot be signalled. */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

function lookAt(pid: number): { state: string; started: string } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name before it may hold anything, blanks and brackets too; then come fields 3 to 22.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 20);
    const [state, started] = [fields[0], fields[19]];
    return state === undefined || started === undefined ? undefined : { state, started };
  } catch {
    return undefined;
  }
}
