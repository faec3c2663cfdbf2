import { idTime } from '../../../core/ids.ts';
import type { RequestChange } from './request-change.ts';

/**
 * Position in a stream of requests: all changes before `since` were sent, of the later ones those of `told`. It
 * holds no state of a process, so that it outlives one.
 */
export interface StreamCursor {
  /** Milliseconds since epoch. */
  readonly since: number;
  /** Requests before this instant (ms since epoch, by their ids) have not changed but for {@link open}. */
  readonly low: number;
  /** Ids of the oldest requests that were in flight. */
  readonly open: readonly string[];
  /** Ends of the ids that were sent as ended at or after `since`. */
  readonly told: ReadonlySet<string>;
}

/**
 * Milliseconds by which the end of a request may be known late: clocks of machines differ, and changes by
 * others are read once a second.
 */
export const LATE_MS = 2_000;
/** Ids in one cursor: browsers send it back as a header, whose size servers bound. */
const MAX_OPEN = 40;
const MAX_TOLD = 200;
const TAIL = 8;
const CURSOR = /^v1\.(\d{1,15})\.(\d{1,15})\.((?:req_\w{26},?)*)\.((?:\w{8})*)$/;

export const tailOf = (id: string): string => id.slice(-TAIL);

export interface CursorFacts {
  /** Milliseconds since epoch up to which everything was sent. */
  readonly at: number;
  /** Ids of requests in flight. */
  readonly open: Iterable<string>;
  /** Marks of the sent rows, the newest last. */
  readonly told: readonly ToldMark[];
}

/** Request that was sent as ended, for as long as cursors have to name it. */
export interface ToldMark {
  readonly tail: string;
  /** Milliseconds since epoch. */
  readonly until: number;
}

/** Marks of those changes that are ends. */
export function marksOf(changes: readonly RequestChange[]): ToldMark[] {
  return changes.flatMap(({ id, end, endedAt }) =>
    end !== undefined && endedAt < Infinity ? [{ tail: tailOf(id), until: endedAt + LATE_MS }] : [],
  );
}

/** Marks that a cursor names, whose ends were before it was written. */
export function marksBehind({ since, told }: StreamCursor): ToldMark[] {
  return Array.from(told, (tail) => ({ tail, until: since + 2 * LATE_MS }));
}

export function writeCursor({ at, open, told }: CursorFacts): string {
  const since = at - LATE_MS;
  const ids = [...open].sort();
  const shown = ids.slice(0, MAX_OPEN);
  const next = ids[MAX_OPEN];
  const low = next === undefined ? at : (idTime(next) ?? at);
  return `v1.${since}.${low}.${shown.join(',')}.${lateTails(told, at).join('')}`;
}

/** Returns the tails that count, the newest first. */
function lateTails(told: readonly ToldMark[], at: number): string[] {
  const late = new Set<string>();
  for (let index = told.length - 1; index >= 0 && late.size < MAX_TOLD; index--) {
    const mark = told[index];
    if (mark && mark.until >= at) late.add(mark.tail);
  }
  return [...late];
}

/** Undefined unless it is a cursor. */
export function readCursor(text: string): StreamCursor | undefined {
  const [, since, low, open = '', told = ''] = CURSOR.exec(text) ?? [];
  if (since === undefined || low === undefined) return undefined;
  return {
    since: Number(since),
    low: Number(low),
    open: open.split(',').filter((id) => id !== ''),
    told: new Set(told.match(/\w{8}/g) ?? []),
  };
}
