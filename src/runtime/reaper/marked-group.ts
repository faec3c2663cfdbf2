import { findByEnvironment, readProcessTable } from './process-table.ts';
import type { ProcessEntry } from './process-table.ts';

/**
 * A process with its descendants. Each of them inherits the marker in its environment,
 * whatever group or session it moves to.
 */
export interface MarkedGroup {
  /** Unguessable and only of this start. */
  readonly marker: string;
  /** Leader of its group and session; undefined until it is known. */
  readonly pid?: number | undefined;
}

/** The variable that carries the marker. */
export const MARKER_VARIABLE = 'AGENT_GATEWAY_HARNESS';

/**
 * The living members of the groups: those that carry a marker, are in the group or session of a leader,
 * or descend from such a one. A process that has done away with all three at once is not found.
 */
export async function findMembers(groups: readonly MarkedGroup[]): Promise<ProcessEntry[]> {
  if (groups.length === 0) return [];
  const table = await readProcessTable();
  const texts = groups.map(({ marker }) => `${MARKER_VARIABLE}=${marker}`);
  const members = new Map<number, ProcessEntry>();
  const known = new Set(groups.flatMap(({ pid }) => pid ?? []));
  const add = (entry: ProcessEntry): void => {
    members.set(entry.pid, entry);
    known.add(entry.pid);
  };
  for (const entry of await findByEnvironment(table, texts)) add(entry);
  for (let before = -1; before !== members.size;) {
    before = members.size;
    for (const entry of table) if (!members.has(entry.pid) && belongs(entry, known)) add(entry);
  }
  // Leaves out this process and its own group, whatever the table says.
  const own = table.find(({ pid }) => pid === process.pid)?.group;
  return [...members.values()].filter(({ pid, group }) => pid !== process.ppid && group !== own);
}

function belongs({ pid, parent, group, session }: ProcessEntry, known: Set<number>): boolean {
  return [pid, parent, group, session].some((id) => known.has(id));
}

/** Sends the signal to the groups of all members as a whole: no fork escapes that. */
export function signalMembers(members: readonly ProcessEntry[], signal: NodeJS.Signals): void {
  for (const group of new Set(members.map(({ group }) => group))) signalGroup(group, signal);
}

/** A group that is gone needs no signal. */
export function signalGroup(group: number, signal: NodeJS.Signals): void {
  if (group <= 1) return;
  try {
    process.kill(-group, signal);
  } catch {
    // The process is gone, or of another user: then it is not ours to end.
  }
}
