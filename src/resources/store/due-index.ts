import { nextInstant } from '../../core/time/cron.ts';
import type { CronSchedule } from '../../core/time/cron.ts';
import type { Key, Op } from '../../store/store.ts';
import type { State, Stored } from './stored.ts';

/** Schedules by the instant at which they fire next; a row holds `{organization}`. */
export const DUE_PREFIX: Key = ['schedule-due'];
/** @param at milliseconds since epoch */
export const dueKey = (at: number, deploymentId: string): Key => [...DUE_PREFIX, at, deploymentId];

/** Runs of a Schedule that are not decided yet, by id; while there is one it is not deleted. */
export const pendingRunPrefix = (deploymentId: string): Key => ['schedule-pending', deploymentId];
export const pendingRunKey = (deploymentId: string, runId: string): Key => [
  ...pendingRunPrefix(deploymentId),
  runId,
];

/**
 * Moves the row of a Schedule in the index, for the commit that writes its new state. There is
 * exactly one row while `next_due_at` is a number and none otherwise. `before` is absent at
 * creation, `next` at removal.
 */
export function dueOps(before: Stored | undefined, next: Stored | undefined): Op[] {
  const from = before && dueAt(before);
  const to = next && dueAt(next);
  const ops: Op[] = [];
  if (from === to) return ops;
  if (before && from !== undefined) ops.push({ type: 'delete', key: dueKey(from, before.id) });
  if (next && to !== undefined) {
    const { organization } = next;
    ops.push({ type: 'put', key: dueKey(to, next.id), value: { organization } });
  }
  return ops;
}

/** Instant of its next firing, in milliseconds since epoch. */
function dueAt({ state }: Stored): number | undefined {
  const { next_due_at: at } = state;
  return typeof at === 'number' ? at : undefined;
}

/** Instants of a Schedule that have been claimed, in milliseconds since epoch. */
export interface Claimed {
  /** The latest of them; null before the first. */
  readonly lastSlot: number | null;
  /**
   * Times below it without a claimed instant, each without its ends, in order. A clock that was ahead
   * leaves them; those that are forgotten count as claimed.
   */
  readonly unclaimed: readonly (readonly [after: number, before: number])[];
}

/** More are forgotten, the earliest first. */
const MAX_UNCLAIMED = 8;

export function claimedOf({ last_slot: last, unclaimed }: State): Claimed {
  return {
    lastSlot: typeof last === 'number' ? last : null,
    unclaimed: Array.isArray(unclaimed) ? unclaimed : [],
  };
}

/**
 * Finds when a Schedule fires next; null: never. A claimed instant does not come again, also when
 * the clock was set back; one that a clock only passed over while it was ahead does.
 */
export function firstDue(
  schedule: CronSchedule,
  { lastSlot, unclaimed, now }: Claimed & { now: number },
): number | null {
  if (lastSlot === null || now >= lastSlot) return nextInstant(schedule, now) ?? null;
  for (const [after, before] of unclaimed) {
    const next = nextInstant(schedule, Math.max(now, after));
    if (next !== undefined && next < before) return next;
  }
  return nextInstant(schedule, lastSlot) ?? null;
}

/** The next instants at which it fires, at most `count`. */
export function upcomingDue(
  schedule: CronSchedule,
  { now, ...claimed }: Claimed & { now: number },
  count: number,
): number[] {
  const due: number[] = [];
  for (let at: number | null = now; at !== null && due.length < count;) {
    at = firstDue(schedule, { ...claimed, now: at });
    if (at !== null) due.push(at);
  }
  return due;
}

/** True when an instant was claimed, or counts as such. */
export function isClaimed({ lastSlot, unclaimed }: Claimed, slot: number): boolean {
  if (lastSlot === null || slot > lastSlot) return false;
  return !unclaimed.some(([after, before]) => slot > after && slot < before);
}

/**
 * State after a claim of `slot`, when `from` was the first instant since the claim before.
 * `isFired`: false for a slot that is too old and is passed over.
 */
export function withClaim(
  schedule: CronSchedule,
  { lastSlot, unclaimed }: Claimed,
  { from, slot, isFired }: { from: number; slot: number; isFired: boolean },
): Pick<State, 'last_slot' | 'unclaimed'> {
  const end = isFired ? slot : slot + 1;
  const holds = ([after, before]: readonly [number, number]): boolean =>
    (nextInstant(schedule, after) ?? Infinity) < before;
  const split = unclaimed.flatMap((one): [number, number][] => {
    const [after, before] = one;
    if (slot <= after || slot >= before) return [[after, before]];
    return [
      [after, end],
      [slot, before],
    ];
  });
  const isLater = lastSlot === null || slot > lastSlot;
  if (isLater) split.push([Math.max(from - 1, lastSlot ?? -Infinity), end]);
  const next = split.filter(holds).slice(-MAX_UNCLAIMED);
  return { last_slot: isLater ? slot : lastSlot, unclaimed: next.length === 0 ? null : next };
}
