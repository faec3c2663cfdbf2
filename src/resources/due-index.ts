import { nextInstant } from '../core/cron.ts';
import type { CronSchedule } from '../core/cron.ts';
import type { Key, Op } from '../store/store.ts';
import type { Stored } from './define-resource.ts';

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
 * What moves the row of a Schedule in the index, for the commit that writes its new state. There is
 * exactly one row while `next_due_at` is a number and none otherwise. `before` is absent at creation,
 * `next` at removal.
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

/** When it fires next, in milliseconds since epoch. */
function dueAt({ state }: Stored): number | undefined {
  const { next_due_at: at } = state;
  return typeof at === 'number' ? at : undefined;
}

/**
 * When a Schedule that begins now fires first; null: never. An instant that was claimed or skipped
 * does not come again, also when the clock was set back. All in milliseconds since epoch.
 */
export function firstDue(
  schedule: CronSchedule,
  { now, lastSlot }: { now: number; lastSlot: number | null },
): number | null {
  return nextInstant(schedule, Math.max(now, lastSlot ?? now)) ?? null;
}
