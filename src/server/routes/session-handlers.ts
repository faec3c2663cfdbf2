import { allows } from '../../core/access.ts';
import type { Use } from '../../core/access.ts';
import type { Clock } from '../../core/time/clock.ts';
import { GatewayError, toGatewayError } from '../../core/errors.ts';
import { readInSlices } from '../../core/json/json-document.ts';
import type { ValueBound } from '../../core/json/json-document.ts';
import type { ActiveExchanges } from '../../inference/active-exchanges.ts';
import { createRelay } from '../../inference/relay.ts';
import type { CallResult } from '../../inference/types.ts';
import type { Catalog } from '../../routing/catalog.ts';
import { hasListPrice } from '../../runtime/tools/list-cost.ts';
import { eventsPage, sessionsPage, toShownSession } from '../../sessions/list-pages.ts';
import type { PageRequest } from '../../sessions/list-pages.ts';
import { valuesOf } from '../../sessions/page-query.ts';
import type { ResolvedAgent } from '../../sessions/resolved-agent.ts';
import { readCreateBody, readSendBody, readUpdateBody } from '../../sessions/session-bodies.ts';
import type { AgentReference } from '../../sessions/session-bodies.ts';
import { toSessionView } from '../../sessions/session-view.ts';
import type { SessionEvent } from '../../sessions/log/session-event.ts';
import type { AlsoChanged, MadeSession, Sessions } from '../../sessions/sessions.ts';
import { createFrames, streamEvents } from '../../sessions/log/stream-events.ts';
import type { ToFrame } from '../../sessions/log/stream-events.ts';
import type { Carrier } from '../../protocols/family.ts';
import { readKey } from '../../surfaces/carriers.ts';
import { admitCall } from '../../surfaces/admit-call.ts';
import type { Admitted, GateDeps, KeyInUse } from '../../surfaces/gate.ts';
import { onceClosed, watchClient } from '../../surfaces/http-exchange.ts';
import type { Handler, HttpExchange, Reply } from '../../surfaces/http-exchange.ts';
import { readBody } from '../../surfaces/read-body.ts';
import { takeStreamPlace, watchKey } from '../../surfaces/standing-stream.ts';
import type { Principal } from '../../usage/principal.ts';
import type { HandlersOf } from './lazy-routes.ts';
import { auditedCommit } from './session-audit.ts';
import type { SessionAuditDeps } from './session-audit.ts';
import { SESSIONS_PATH } from './outlines.ts';
import type { SESSION_ROUTES } from './outlines.ts';

export interface SessionRoutesDeps extends GateDeps, SessionAuditDeps {
  readonly sessions: Sessions;
  readonly clock: Clock;
  /** Carriers in which keys are looked for. */
  readonly carriers: readonly Carrier[];
  /** Bytes. */
  readonly maxBodyBytes: number;
  readonly resourceValues: ValueBound;
  catalog(): Catalog;
  /** Streams that a stop ends. */
  readonly active: Pick<ActiveExchanges, 'add' | 'delete'>;
  /** Throws `not_found` for an Agent that the organization does not have, `conflict` for an archived one. */
  resolveAgent(organization: string, reference: AgentReference): Promise<ResolvedAgent>;
}

interface Ask {
  readonly exchange: HttpExchange;
  readonly principal: Principal;
  readonly organization: string;
  readonly id: string;
  readonly admitted: Admitted;
  readonly inUse: KeyInUse;
}

interface ServeDeps extends SessionRoutesDeps {
  readonly toFrame: ToFrame;
}

type Serve = (ask: Ask, deps: ServeDeps) => Promise<Reply | CallResult>;

/** Handlers of `/v1/sessions` and below, for keys with the scope `sessions` (contract: Sessions). */
export function sessionHandlers(deps: SessionRoutesDeps): HandlersOf<typeof SESSION_ROUTES> {
  const served = { ...deps, toFrame: createFrames() };
  const to = (use: Use, serve: Serve): Handler => asCaller(use, serve, served);
  return {
    list: to('read', list),
    create: to('write', create),
    get: to('read', get),
    update: to('write', update),
    remove: to('write', remove),
    archive: to('write', archive),
    listEvents: to('content', listEvents),
    send: to('call', send),
    stream: to('content', stream),
  };
}

function asCaller(use: Use, serve: Serve, deps: ServeDeps): Handler {
  return async (exchange) => {
    const { request, response, search, path } = exchange;
    const key = readKey(deps.carriers, request.headers, search);
    const inUse: KeyInUse = { key, need: { scope: 'sessions', use } };
    const admitted = await admitCall(exchange, inUse, deps);
    const { principal, leave } = admitted;
    onceClosed(response, leave);
    const { organizationId: organization } = principal;
    const id = idOf(path);
    return serve({ exchange, principal, organization, id, admitted, inUse }, deps);
  };
}

const list: Serve = async (ask, deps) => ok(await sessionsPage(deps.sessions, toPage(ask, deps)));

function toPage({ organization, exchange, principal }: Ask, { clock }: ServeDeps): PageRequest {
  const query = new URLSearchParams(exchange.search);
  const seesContent = allows(principal.role, 'content');
  return { organization, query, now: clock.now(), seesContent };
}

const create: Serve = async ({ exchange, principal, organization }, deps) => {
  const { reference, input } = readCreateBody(await bodyOf({ exchange, principal }, deps));
  const { keyId, keyName, organizationId } = principal;
  const agent = await deps.resolveAgent(organization, reference);
  if (input.budget) checkBudgetable(agent, deps.catalog());
  const toReply = ({ session }: MadeSession): Reply => ({
    status: 201,
    body: toSessionView(session, deps.clock.now()),
  });
  const { named } = exchange;
  const made = await deps.sessions.create({
    ...input,
    organization,
    payer: { keyId, keyName, organizationId },
    entryPoint: 'session',
    agent,
    ...(named && { also: (made) => named.answered(toReply(made)) }),
    commit: auditedCommit({ exchange, principal, action: 'create' }, deps),
  });
  return toReply(made);
};

/** A budget needs the cost of a turn; the spending of a harness is unknown. */
function checkBudgetable({ model, harness }: ResolvedAgent, catalog: Catalog): void {
  if (harness === null && model && hasListPrice(catalog, model.id)) return;
  const what = harness === null ? 'a model that has no price' : 'a harness';
  const message = `budget: the agent is run by ${what}, so its cost cannot be known`;
  throw new GatewayError('invalid_request', {
    message,
    param: 'budget',
    type: 'model_not_budgetable',
  });
}

const get: Serve = async (ask, deps) => {
  const session = await deps.sessions.get(ask.organization, ask.id);
  return ok(await toShownSession(deps.sessions, session, toPage(ask, deps)));
};

const update: Serve = async (ask, deps) => {
  const { organization, id } = ask;
  const { sessions, clock } = deps;
  const changes = readUpdateBody(await bodyOf(ask, deps));
  const also = alsoAnswered(ask.exchange, clock);
  const commit = auditedCommit({ ...ask, action: 'update' }, deps);
  const session = await sessions.update(organization, id, { ...changes, also, commit });
  return ok(toSessionView(session, clock.now()));
};

/** Keeps the answer with the change that it shows. */
function alsoAnswered({ named }: HttpExchange, clock: Clock): AlsoChanged | undefined {
  return named && ((session) => named.answered(ok(toSessionView(session, clock.now()))));
}

const remove: Serve = async (ask, deps) => {
  const { organization, id } = ask;
  await deps.sessions.remove(organization, id, auditedCommit({ ...ask, action: 'delete' }, deps));
  return ok({ id, type: 'session_deleted' });
};

const archive: Serve = async (ask, deps) => {
  const { exchange, organization, id } = ask;
  const { sessions, clock } = deps;
  const session = await sessions.archive(organization, id, {
    also: alsoAnswered(exchange, clock),
    commit: auditedCommit({ ...ask, action: 'archive' }, deps),
  });
  return ok(toSessionView(session, clock.now()));
};

const listEvents: Serve = async (ask, deps) =>
  ok(await eventsPage(deps.sessions, ask.id, toPage(ask, deps)));

const send: Serve = async (ask, deps) => {
  const { organization, id } = ask;
  const events = readSendBody(await bodyOf(ask, deps));
  const toReply = (sent: SessionEvent[]): Reply => ok({ data: sent });
  const { named } = ask.exchange;
  const also = named && ((sent: SessionEvent[]) => named.answered(toReply(sent)));
  return toReply(await deps.sessions.send(organization, id, { events, ...(also && { also }) }));
};

/** Says nothing about `Accept`: official clients ask for JSON here. */
const stream: Serve = async ({ exchange, organization, id, admitted, inUse }, deps) => {
  const { sessions, clock, active, toFrame } = deps;
  const { request, response, search } = exchange;
  const gone = new AbortController();
  const { signal } = gone;
  const deltas = valuesOf(new URLSearchParams(search), 'event_deltas');
  const after = request.headers['last-event-id']?.toString() || undefined;
  const followed = await sessions.follow(organization, id, { after, deltas, signal });
  const headers = {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-accel-buffering': 'no',
  };
  // Nothing follows the log before it is read.
  if (request.method === 'HEAD') return { status: 200, headers };
  onceClosed(response, await takeStreamPlace(admitted, deps));
  let drained = (): void => undefined;
  const relay = createRelay({ clock, onDrain: () => drained() });
  const room = { wait: () => new Promise<void>((resolve) => (drained = resolve)) };
  const leave = (): void => {
    gone.abort();
    drained();
  };
  const client = watchClient(response);
  if (client.gone) leave();
  else client.onGone(leave);
  const member = { shutDown: leave };
  active.add(member);
  const forget = watchKey(leave, inUse, deps);
  void streamEvents(followed, relay, { room, requestId: exchange.id, toFrame }).finally(() => {
    forget();
    active.delete(member);
  });
  return { type: 'stream', status: 200, headers, body: relay.body };
};

function ok(body: object): Reply {
  return { status: 200, body };
}

async function bodyOf(
  { exchange, principal }: Pick<Ask, 'exchange' | 'principal'>,
  { maxBodyBytes: limit, resourceValues: values }: SessionRoutesDeps,
): Promise<object> {
  const body = await readBody(exchange, { limit, holder: principal.keyId });
  return readInSlices(body, { values });
}

function idOf(path: string): string {
  try {
    return decodeURIComponent(path.slice(SESSIONS_PATH.length + 1).split('/')[0] ?? '');
  } catch (thrown) {
    throw new GatewayError('not_found', {
      message: 'session not found',
      cause: toGatewayError(thrown),
    });
  }
}
