import type { Key, Op } from '../store/store.ts';
import type { SessionRow } from './session-row.ts';

/** Sessions that no longer take input and still have events, by the time of the last of them. */
export const OVER: Key = ['session-over'];
export const overKey = (at: number, id: string): Key => [...OVER, at, id];
/** Present when every Session that was over before there was this index has its row in it. */
export const OVER_COMPLETE: Key = ['session-over-complete'];

type Over = Pick<SessionRow, 'id' | 'status' | 'archivedAt' | 'lastAt' | 'head' | 'removed'>;

/** Its row; undefined while it may continue, and when nothing is left of it. */
export function overKeyOf(row: Over): Key | undefined {
  const { id, status, archivedAt, lastAt, head, removed } = row;
  const isOver = status === 'terminated' || (status === 'idle' && archivedAt !== null);
  return isOver && head > (removed?.upTo ?? 0) ? overKey(lastAt, id) : undefined;
}

/** Moves it in the index, for the commit that changes it; `after` is absent at its removal. */
export function overOps(before: Over, after: Over | undefined): Op[] {
  const from = overKeyOf(before);
  const to = after && overKeyOf(after);
  const ops: Op[] = [];
  if (from && from[1] !== to?.[1]) ops.push({ type: 'delete', key: from });
  if (to && to[1] !== from?.[1]) ops.push({ type: 'put', key: to, value: null });
  return ops;
}
