import type { NewEvent, SessionEvent } from '../sessions/log/session-event.ts';
import type { SessionOutcome } from '../sessions/outcome.ts';
import type { Waiting } from '../sessions/waiting.ts';
import type { ListFilters } from './admin.ts';
import { hasStrings, isPageOf } from './http/guards.ts';
import { deleteOnce } from './http/delete-once.ts';
import type { Http } from './http/http.ts';
import { eachItem } from './http/pages.ts';
import type { Patience } from './http/read-on.ts';
import type { TailEnd } from './http/rest-watch.ts';
import { tailSession } from './tail-session.ts';

/** A Session as the server shows it. */
export interface SessionView {
  id: string;
  status: string;
  title: string | null;
  agent: { id: string; name: string; version: number };
  created_at: string;
  /** Time of its last event; absent from older gateways, as `turns` is. */
  updated_at?: string;
  stats?: { active_seconds: number; duration_seconds: number; turns?: number | null };
  /** What became of its work; null before its first turn; absent from older gateways. */
  outcome?: SessionOutcome | null;
  /** Calls that it waits for; null: none; absent from older gateways. */
  waiting?: Waiting | null;
  [field: string]: unknown;
}

export interface TailOptions {
  /** Ends when the Session rests, at once when it does already. Default: continues. */
  untilRest?: boolean;
  /** False: only the history. Default: true. */
  follow?: boolean;
  /** Number of events at the end of the history to begin with; 0 for none. Default: all. */
  last?: number | undefined;
  /** Types of the events that are given. Default: all. */
  types?: readonly string[] | undefined;
  /** Called while the Session waits for its client, after the event that says so. */
  onWait?: (() => Promise<void>) | undefined;
  signal?: AbortSignal | undefined;
}

/** The Sessions of the key's organization; needs the scope `sessions`. */
export interface SessionsClient {
  /** Newest first, all pages followed. */
  list(filters?: ListFilters, signal?: AbortSignal): AsyncGenerator<SessionView, void, undefined>;
  get(id: string, signal?: AbortSignal): Promise<SessionView>;
  /** Makes one of the Agent with this id, without a message. Never repeated. */
  create(made: { agent: string }, signal?: AbortSignal): Promise<SessionView>;
  /** Appends events, never repeated; returns them as they are in the history. */
  send(id: string, events: readonly NewEvent[], signal?: AbortSignal): Promise<SessionEvent[]>;
  archive(id: string, signal?: AbortSignal): Promise<SessionView>;
  delete(id: string, signal?: AbortSignal): Promise<void>;
  /** The history, oldest first unless `order` says `desc`, all pages followed. */
  events(
    id: string,
    filters?: ListFilters,
    signal?: AbortSignal,
  ): AsyncGenerator<SessionEvent, void, undefined>;
  /** The history and then what happens, see {@link tailSession}. */
  tail(id: string, options?: TailOptions): AsyncGenerator<SessionEvent, TailEnd, undefined>;
}

export interface SessionsClientDeps extends Patience {
  readonly http: Http;
}

const PATH = '/v1/sessions';
const INCLUDE = { include: 'outcome,waiting' };
const isSession = hasStrings<SessionView>('id', 'status', 'created_at');
const isEvent = (value: unknown): value is SessionEvent =>
  hasStrings<{ id: string; type: string }>('id', 'type')(value);

export function createSessionsClient(deps: SessionsClientDeps): SessionsClient {
  const { http } = deps;
  const pathOf = (id: string) => `${PATH}/${encodeURIComponent(id)}`;
  const events: SessionsClient['events'] = (id, filters, signal) =>
    eachItem(async (page) => {
      const query = { limit: 1_000, ...filters, page };
      const call = { method: 'GET', path: `${pathOf(id)}/events`, query, signal };
      return (await http.json(call, isPageOf(isEvent))).body;
    });
  return {
    list: (filters, signal) =>
      eachItem(async (page) => {
        const query = { limit: 100, ...INCLUDE, ...filters, page };
        const call = { method: 'GET', path: PATH, query, signal };
        return (await http.json(call, isPageOf(isSession))).body;
      }),
    get: async (id, signal) =>
      (await http.json({ method: 'GET', path: pathOf(id), query: INCLUDE, signal }, isSession))
        .body,
    create: async (body, signal) =>
      (await http.json({ method: 'POST', path: PATH, body, signal }, isSession)).body,
    async send(id, sent, signal) {
      const call = { method: 'POST', path: `${pathOf(id)}/events`, body: { events: sent }, signal };
      return (await http.json(call, isPageOf(isEvent))).body.data;
    },
    async archive(id, signal) {
      const call = { method: 'POST', path: `${pathOf(id)}/archive`, body: {}, signal };
      return (await http.json(call, isSession)).body;
    },
    delete: (id, signal) => deleteOnce(http, pathOf(id), signal),
    events,
    tail: (id, { untilRest = false, follow = true, last, types, onWait, signal } = {}) =>
      tailSession(
        {
          ...deps,
          history: (order) => events(id, { order }, signal),
          open: async (after) => {
            const path = `${pathOf(id)}/events/stream`;
            const headers = after === undefined ? undefined : { 'last-event-id': after };
            return (await http.stream({ method: 'GET', path, headers, signal })).body;
          },
        },
        { id, untilRest, follow, last, types, onWait, signal },
      ),
  };
}
