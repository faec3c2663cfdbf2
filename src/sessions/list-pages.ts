import { GatewayError } from '../core/errors.ts';
import { queryCount } from '../core/query-count.ts';
import {
  boundsOf,
  choiceOf,
  cursorsOf,
  isWithin,
  limitOf,
  valueOf,
  valuesOf,
} from './page-query.ts';
import { outcomeOf } from './outcome.ts';
import { toSessionView } from './session-view.ts';
import type { Session, SessionStatus } from './session.ts';
import type { SessionFilter, Sessions } from './sessions.ts';
import { STATUS_MOVES } from './status-moves.ts';

const MAX_SESSIONS = 100;
const MAX_EVENTS = 1_000;
/** Direction in which the list continues, and the Session after which it does. */
const SESSION_PLACE = /^([<>])(sess_\w{1,100})$/;
/** Number of an event. */
const EVENT_PLACE = /^[1-9]\d{0,14}$/;

export interface PageRequest {
  readonly organization: string;
  readonly query: URLSearchParams;
  /** Milliseconds since epoch. */
  readonly now: number;
  /** False: inputs of calls are left out. Default: true. Lists have none. */
  readonly seesContent?: boolean;
}

/** `GET /v1/sessions` (requirement sessions.list). @throws GatewayError `invalid_request` */
export async function sessionsPage(sessions: Sessions, request: PageRequest): Promise<object> {
  const { organization, query } = request;
  const filter = readFilter(query);
  const bounds = boundsOf(query);
  const order = choiceOf(query, 'order', ['asc', 'desc']) ?? 'desc';
  const limit = limitOf(query, MAX_SESSIONS);
  const cursors = cursorsOf(['sessions', organization, order, filter, bounds], SESSION_PLACE);
  const [, way, at] = SESSION_PLACE.exec(cursors.read(query) ?? '') ?? [];
  const isBack = way === '<';
  const found = await sessions.list(organization, {
    ...filter,
    created: (time) => isWithin(bounds, time),
    after: at,
    limit: limit + 1,
    order: isBack === (order === 'desc') ? 'asc' : 'desc',
  });
  const page = found.slice(0, limit);
  const hasMore = found.length > limit;
  if (isBack) page.reverse();
  // Inputs of a hundred Sessions may be larger than any answer: each is read with its own Session.
  const shown = { ...request, seesContent: false };
  const to = (way: string, session: Session | undefined, isThere: boolean): string | null =>
    isThere && session ? cursors.write(`${way}${session.id}`) : null;
  return {
    data: await Promise.all(page.map((session) => toShownSession(sessions, session, shown))),
    next_page: to('>', page.at(-1), isBack || hasMore),
    prev_page: to('<', page[0], isBack ? hasMore : at !== undefined),
  };
}

/** Members that `include` adds to a Session. */
const INCLUDED = ['outcome', 'waiting'];

/**
 * View of a Session, with its outcome and the calls that wait where `include=outcome,waiting` asks for them.
 *
 * @throws GatewayError `invalid_request` for another value of `include`
 */
export async function toShownSession(
  sessions: Pick<Sessions, 'waitingOf'>,
  session: Session,
  { query, now, seesContent = true }: Omit<PageRequest, 'organization'>,
): Promise<object> {
  const included = valuesOf(query, 'include') ?? [];
  if (included.some((one) => !INCLUDED.includes(one))) {
    const message = `include: expected some of ${INCLUDED.join(', ')}`;
    throw new GatewayError('invalid_request', { message, param: 'include' });
  }
  const view = {
    ...toSessionView(session, now),
    ...(included.includes('outcome') && { outcome: outcomeOf(session) }),
  };
  if (!included.includes('waiting')) return view;
  const waiting = await sessions.waitingOf(session);
  if (waiting === null || seesContent) return { ...view, waiting };
  const calls = waiting.calls.map(({ input: _said, ...call }) => call);
  return { ...view, waiting: { ...waiting, calls } };
}

function readFilter(query: URLSearchParams): SessionFilter {
  const statuses = valuesOf(query, 'statuses') as SessionStatus[] | undefined;
  const strange = statuses?.find((status) => !Object.hasOwn(STATUS_MOVES, status));
  if (strange !== undefined) {
    const message = `statuses: expected some of ${Object.keys(STATUS_MOVES).join(', ')}`;
    throw new GatewayError('invalid_request', { message, param: 'statuses' });
  }
  const ids = valuesOf(query, 'ids');
  if (ids !== undefined && ids.length > MAX_SESSIONS) {
    const message = `ids: expected at most ${MAX_SESSIONS} ids`;
    throw new GatewayError('invalid_request', { message, param: 'ids' });
  }
  return {
    ids,
    statuses,
    agentId: idOf(query, 'agent_id'),
    agentVersion: queryCount(query, 'agent_version'),
    deploymentId: idOf(query, 'deployment_id'),
    endpointId: idOf(query, 'endpoint_id'),
    includeArchived: choiceOf(query, 'include_archived', ['true', 'false']) === 'true',
  };
}

/** No id is longer; the store could not even look for it. */
function idOf(query: URLSearchParams, name: string): string | undefined {
  return valueOf(query, name)?.slice(0, 256);
}

/** `GET /v1/sessions/{id}/events` (requirement sessions.events.list). @throws GatewayError `invalid_request` */
export async function eventsPage(
  sessions: Sessions,
  id: string,
  { organization, query }: PageRequest,
): Promise<object> {
  const types = valuesOf(query, 'types');
  const bounds = boundsOf(query);
  const order = choiceOf(query, 'order', ['asc', 'desc']) ?? 'asc';
  const limit = limitOf(query, MAX_EVENTS);
  const cursors = cursorsOf(['events', id, order, types, bounds], EVENT_PLACE);
  const cursor = cursors.read(query);
  const { events, next, removedAt } = await sessions.read(organization, id, {
    order,
    after: cursor === undefined ? undefined : Number(cursor),
    limit,
    matches: ({ type, processed_at }) =>
      (types === undefined || types.includes(type)) && isWithin(bounds, processed_at),
  });
  return {
    data: events.map(({ event }) => event),
    next_page: next === null ? null : cursors.write(String(next)),
    ...(removedAt !== null && { events_removed_at: removedAt }),
  };
}
