import type { Clock } from '../../core/time/clock.ts';
import { findMembers, signalGroup, signalMembers } from './marked-group.ts';
import type { MarkedGroup } from './marked-group.ts';

export interface EndOptions {
  readonly clock: Clock;
  /** Milliseconds between the request to end and the kill; 0 kills at once. */
  readonly graceMs: number;
}

const POLL_MS = 25;
const MAX_POLL_MS = 200;
/** Kills in a row for processes that keep forking or hang in the kernel. */
const MAX_KILLS = 40;

/**
 * Ends all members of the groups: asks them to (SIGTERM), and kills the rest after the grace.
 * Resolves with true when nothing is left; false for what not even a kill ends now.
 */
export async function endGroups(
  groups: readonly MarkedGroup[],
  { clock, graceMs }: EndOptions,
): Promise<boolean> {
  if (graceMs > 0 && (await askToEnd(groups, { clock, graceMs }))) return true;
  for (let tries = 1; tries <= MAX_KILLS; tries++) {
    signalLeaders(groups, 'SIGKILL');
    const members = await findMembers(groups);
    if (members.length === 0) return true;
    signalMembers(members, 'SIGKILL');
    await pause(clock, Math.min(MAX_POLL_MS, 5 * tries));
  }
  return (await findMembers(groups)).length === 0;
}

async function askToEnd(
  groups: readonly MarkedGroup[],
  { clock, graceMs }: EndOptions,
): Promise<boolean> {
  const until = clock.monotonic() + graceMs;
  signalLeaders(groups, 'SIGTERM');
  let members = await findMembers(groups);
  signalMembers(outsideOf(groups, members), 'SIGTERM');
  for (let ms = POLL_MS; members.length > 0; ms = Math.min(MAX_POLL_MS, ms * 2)) {
    const left = until - clock.monotonic();
    if (left <= 0) return false;
    await pause(clock, Math.min(ms, left));
    members = await findMembers(groups);
  }
  return true;
}

/** Signals only the leaders: the fallback where there is no `/proc`. */
function signalLeaders(groups: readonly MarkedGroup[], signal: NodeJS.Signals): void {
  for (const { pid } of groups) if (pid !== undefined) signalGroup(pid, signal);
}

/** The others have been asked already; a second request makes some end without cleaning up. */
function outsideOf<T extends { readonly group: number }>(
  groups: readonly MarkedGroup[],
  members: readonly T[],
): T[] {
  return members.filter(({ group }) => !groups.some(({ pid }) => pid === group));
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimeout(resolve, ms);
  });
}
