import type { CommitResult, Key, Op } from '../store/store.ts';
import type { Session } from './session.ts';

/**
 * The head of a Session's log, written by every append. The Agent is a row of its own, so that an
 * append costs the same whatever its size.
 */
export interface SessionRow extends Omit<Session, 'agent'> {
  readonly agentId: string | null;
  readonly agentVersion: number | null;
  /** Number of the last event that a turn must look at. */
  readonly lastInput: number;
  /** Messages that no turn has begun with yet. */
  readonly queued: number;
  /** Idle in the middle of a turn: the next input continues it. */
  readonly isPaused: boolean;
  /** Message of the last `session.error` of the turn. */
  readonly turnError?: string | null | undefined;
  /** Runner of the turn: only it may append to it. Null before the first. */
  readonly turn: string | null;
  /** Attempts that began since the last turn came to its end, the one that ended it included. */
  readonly goes: number;
  /** Time of the last event, in ms since epoch; later ones are never earlier. */
  readonly lastAt: number;
}

/** A Session before and after a change; undefined where there is none. */
export interface ChangedSession {
  readonly before?: SessionRow | undefined;
  readonly next?: SessionRow | undefined;
}

/** Commits a change of a Session in place of the store, perhaps with further operations. */
export type SessionCommit = (ops: readonly Op[], changed: ChangedSession) => Promise<CommitResult>;

/** Facts by which a list of Sessions can be narrowed down without looking at each. */
export type SessionIndex = 'all' | 'agent' | 'deployment' | 'endpoint';

export const SESSIONS: Key = ['session'];
export const sessionKey = (id: string): Key => [...SESSIONS, id];
export const agentKey = (id: string): Key => ['session-agent', id];

export const eventPrefix = (id: string): Key => ['session-event', id];
export const eventKey = (id: string, seq: number): Key => ['session-event', id, seq];
/** Holds the number of the event. */
export const eventIdKey = (id: string, eventId: string): Key => ['session-event-id', id, eventId];
export const eventIdPrefix = (id: string): Key => ['session-event-id', id];

/** Ids of an organization's Sessions in the order in which they were made. */
export const indexPrefix = (organization: string, index: SessionIndex, value: string): Key => [
  'session-by',
  organization,
  index,
  value,
];

/** Every key under which lists find the Session; none of them ever changes. */
export function indexKeys(
  row: Pick<SessionRow, 'id' | 'organization' | 'agentId' | 'deploymentId' | 'endpointId'>,
): Key[] {
  const { id, organization, agentId, deploymentId, endpointId } = row;
  const places: [SessionIndex, string | null][] = [
    ['all', ''],
    ['agent', agentId],
    ['deployment', deploymentId],
    ['endpoint', endpointId],
  ];
  return places.flatMap(([index, value]) =>
    value === null ? [] : [[...indexPrefix(organization, index, value), id]],
  );
}
