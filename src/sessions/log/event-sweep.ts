import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../core/time/clock.ts';
import { jobKey } from '../../jobs/job-rows.ts';
import type { Sweep, SweepStep, Swept } from '../../jobs/sweep-job.ts';
import { mayHaveMore } from '../../store/may-have-more.ts';
import type { Entry, Key, Op, Store } from '../../store/store.ts';
import { OVER, OVER_COMPLETE, overKeyOf } from '../over-index.ts';
import type { SessionEvent } from './session-event.ts';
import { eventIdKey, eventPrefix, sessionKey, SESSIONS } from '../session-row.ts';
import type { SessionRow } from '../session-row.ts';
import { TURN_JOB } from './job-kinds.ts';

/** Events of one commit, and about their bytes. */
const BATCH = { limit: 100, maxBytes: 1024 * 1024 };
/** Sessions of one step. */
const PAGE = 50;

export interface EventSweepDeps {
  readonly store: Store;
  readonly clock: Clock;
}

/**
 * Removes the events of Sessions that are over, those that ended first at first. The Session stays and says
 * since when its events are gone: a reader sees all of them or none. Age counts from the last change of the
 * Session. One that may continue, or has a turn to do, is skipped.
 */
export function createEventSweep(deps: EventSweepDeps): Sweep {
  return async (step) => {
    const isComplete = await deps.store.get(OVER_COMPLETE);
    return isComplete ? sweepOver(deps, step) : enterOver(deps.store, step);
  };
}

/** Finds, once in the life of a store, the Sessions that were over before there was the index. */
async function enterOver(store: Store, { cursor, limit }: SweepStep): Promise<Swept> {
  const page = await store.list<SessionRow>({
    prefix: SESSIONS,
    limit,
    ...(typeof cursor === 'string' && { after: sessionKey(cursor) }),
  });
  const places = page.flatMap(({ value }) => {
    const place = overKeyOf(value);
    return place ? [place] : [];
  });
  const ops = places.map((key): Op => ({ type: 'put', key, value: null }));
  const last = page.length === limit ? page.at(-1)?.value.id : undefined;
  if (last === undefined) ops.push({ type: 'put', key: OVER_COMPLETE, value: true });
  await store.commit(ops);
  return { removed: 0, cursor: last ?? null };
}

/** The cursor is the position of the last Session that was skipped. */
async function sweepOver(deps: EventSweepDeps, step: SweepStep): Promise<Swept> {
  let after = Array.isArray(step.cursor) ? (step.cursor as Key) : undefined;
  const page = await deps.store.list({ prefix: OVER, limit: PAGE, ...(after && { after }) });
  let removed = 0;
  for (const { key } of page) {
    if (Number(key[1]) >= step.before) return { removed };
    const took = await removeSome(deps, key);
    removed += took.removed;
    if (took.isLeftAlone) after = key;
    if (took.isMore || removed >= step.limit) return { removed, cursor: after ?? null };
  }
  return { removed, ...(page.length === PAGE && { cursor: after ?? null }) };
}

interface Taken {
  readonly removed: number;
  /** The Session has further events to be removed. */
  readonly isMore: boolean;
  readonly isLeftAlone: boolean;
}

const LEFT_ALONE: Taken = { removed: 0, isMore: false, isLeftAlone: true };

/** One commit with the first events of the Session at this position, and the index row when none are left. */
async function removeSome({ store, clock }: EventSweepDeps, place: Key): Promise<Taken> {
  const id = String(place[2]);
  const entry = await store.get<SessionRow>(sessionKey(id));
  const isFirst = entry !== undefined && isDeepStrictEqual(overKeyOf(entry.value), place);
  if (isFirst && (await store.get(jobKey(TURN_JOB, id)))) return LEFT_ALONE;
  const upTo = isFirst ? entry.value.head : entry?.value.removed?.upTo;
  // It was deleted, or has left this position.
  const old = upTo === undefined ? [] : await firstEvents(store, id, upTo);
  const isMore = mayHaveMore(
    old.map(({ value }) => value),
    BATCH,
  );
  const ops: Op[] = [
    ...(isFirst ? markOps(entry, clock.now()) : []),
    ...old.flatMap(({ key, value }): Op[] => [
      { type: 'delete', key },
      { type: 'delete', key: eventIdKey(id, value.id) },
    ]),
  ];
  if (!isMore) ops.push({ type: 'delete', key: place });
  const { ok } = await store.commit(ops);
  return ok ? { removed: old.length, isMore, isLeftAlone: false } : LEFT_ALONE;
}

async function firstEvents(store: Store, id: string, upTo: number) {
  const first = await store.list<SessionEvent>({ prefix: eventPrefix(id), ...BATCH });
  return first.filter(({ key }) => Number(key[2]) <= upTo);
}

/** Hides its events from all readers; conflicts with a change of it and with a turn to do. */
function markOps({ key, value, version }: Entry<SessionRow>, now: number): Op[] {
  const removed = { upTo: value.head, at: new Date(now).toISOString() };
  return [
    { type: 'put', key, value: { ...value, removed }, ifVersion: version },
    { type: 'check', key: jobKey(TURN_JOB, value.id), ifAbsent: true },
  ];
}
