import type { Key, Store } from '../store/store.ts';

/** A run that is not decided yet; holds nothing. */
export const pendingKey = (deployment: string, run: string): Key => [
  'schedule-pending',
  deployment,
  run,
];

/**
 * Whether a Schedule has a run that is not decided yet. Whoever adds one rewrites the row of the Schedule
 * in the same commit, so a removal that checks the version of that row and then looks here misses none.
 */
export async function hasPendingRun(
  store: Pick<Store, 'list'>,
  deployment: string,
): Promise<boolean> {
  const found = await store.list({ prefix: ['schedule-pending', deployment], limit: 1 });
  return found.length > 0;
}
