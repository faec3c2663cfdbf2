import { TURNING, TurnWatch } from '../runtime/entry/turn-watch.ts';
import type { TurnEnd } from '../runtime/entry/turn-watch.ts';
import type { SessionEvent } from '../sessions/log/session-event.ts';
import { ClientError } from './http/client-error.ts';
import { eventData } from './http/event-stream.ts';
import { hasStrings, isPageOf, isRecord } from './http/guards.ts';
import type { Http } from './http/http.ts';
import { eachItem } from './http/pages.ts';
import { readEvent } from './http/read-event.ts';
import { readOn } from './http/read-on.ts';
import type { Patience } from './http/read-on.ts';

export interface RunInput {
  /** Id of the Service. */
  service: string;
  input: string;
  /** Absent: a new Session. */
  sessionId?: string | undefined;
  signal?: AbortSignal | undefined;
}

/** Answer of a run. */
export interface ServiceRun {
  session_id: string;
  events: Record<string, unknown>[];
  [field: string]: unknown;
}

/** One event of a turn, or a part of one (`event_start`, `event_delta`). */
export type TurnEvent = Record<string, unknown>;

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called when the Session waits for its client: true to follow on. Default: false. */
  readonly onWait?: (() => Promise<boolean>) | undefined;
}

export interface ServicesClient {
  /**
   * The id of the Service with this id, slug or name.
   *
   * @throws ClientError `not_found`; `ambiguous` for a name that several have
   */
  find(named: string, signal?: AbortSignal): Promise<string>;
  /** `POST /v1/endpoints/{id}/run`, never repeated. */
  run(input: RunInput): Promise<ServiceRun>;
  /**
   * The turn that a message began, or that another event of a client continues, event by event, and how it
   * ended: at once where the Session waits for its client. A lost connection is made again;
   * iterating throws `connection_lost` when that comes to nothing again and again.
   */
  follow(
    run: Pick<ServiceRun, 'session_id' | 'events'>,
    options?: FollowOptions,
  ): AsyncGenerator<TurnEvent, TurnEnd, undefined>;
}

const PATH = '/v1/endpoints';
const isService = hasStrings<{ id: string; name: string }>('id', 'name');
const isRun = (value: unknown): value is ServiceRun =>
  isRecord(value) && typeof value['session_id'] === 'string' && Array.isArray(value['events']);
const isEvent = (value: unknown): value is SessionEvent =>
  hasStrings<{ id: string; type: string }>('id', 'type')(value);

export interface ServicesClientDeps extends Patience {
  readonly http: Http;
}

export function createServicesClient(deps: ServicesClientDeps): ServicesClient {
  const { http } = deps;
  return {
    find: (named, signal) => find(http, named, signal),
    async run({ service, input, sessionId, signal }) {
      const path = `${PATH}/${encodeURIComponent(service)}/run`;
      const body = { input, ...(sessionId !== undefined && { session_id: sessionId }) };
      return (await http.json({ method: 'POST', path, body, signal }, isRun)).body;
    },
    follow: (run, options = {}) => follow(deps, run, options),
  };
}

async function find(http: Http, named: string, signal: AbortSignal | undefined): Promise<string> {
  if (named.startsWith('ep_')) return named;
  const found: string[] = [];
  const query = { q: named, limit: 100 };
  const services = eachItem(async (page) => {
    const call = { method: 'GET', path: PATH, query: { ...query, page }, signal };
    return (await http.json(call, isPageOf(isService))).body;
  });
  for await (const service of services) {
    if ('slug' in service && service.slug === named) return service.id;
    if (service.name === named) found.push(service.id);
  }
  const [id] = found;
  if (id !== undefined && found.length === 1) return id;
  throw id === undefined
    ? new ClientError({ code: 'not_found', status: 404, message: `no service ${named}` })
    : new ClientError({
        code: 'ambiguous',
        message: `${named} is the name of ${found.join(', ')}`,
      });
}

async function* follow(
  { http, clock, random }: ServicesClientDeps,
  { session_id: session, events: [sent] }: Pick<ServiceRun, 'session_id' | 'events'>,
  { signal, onWait = async () => false }: FollowOptions,
): AsyncGenerator<TurnEvent, TurnEnd, undefined> {
  const path = `/v1/sessions/${encodeURIComponent(session)}/events`;
  const id = String(sent?.['id']);
  const watch = new TurnWatch(id);
  const types = [...new Set([...TURNING, String(sent?.['type'])])];
  const before = eachItem(async (page) => {
    const query = { order: 'asc', limit: 1_000, types, page };
    return (await http.json({ method: 'GET', path, query, signal }, isPageOf(isEvent))).body;
  });
  for await (const event of before) {
    watch.take(event);
    if (event.id === id) break;
  }
  if (sent?.['type'] !== 'user.message') watch.keepCurrent();
  else if (watch.wait && !(await onWait())) return watch.wait;
  const read = async function* (after: string | undefined): AsyncGenerator<TurnEvent> {
    const query = { event_deltas: 'agent.message' };
    const headers = { 'last-event-id': after ?? id };
    const call = { method: 'GET', path: `${path}/stream`, query, headers, signal };
    const { body } = await http.stream(call);
    for await (const data of eventData(body)) yield readEvent(data);
  };
  const options = { id: session, after: id, signal, read, isDone: () => false };
  for await (const event of readOn({ clock, random }, options)) {
    const wasCurrent = watch.isCurrent;
    const end = isEvent(event) ? watch.take(event) : undefined;
    if (wasCurrent || watch.isCurrent) yield event;
    if (end && !(end.type === 'requires_action' && (await onWait()))) return end;
  }
  throw new Error('a stream without end has ended');
}
