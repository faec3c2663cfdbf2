import { allows } from '../../core/access.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Sealer } from '../../core/seal.ts';
import { readInSlices } from '../../core/json/json-document.ts';
import { lazy } from '../../core/lazy.ts';
import type { ValueBound } from '../../core/json/json-document.ts';
import type { IdSource } from '../../core/ids.ts';
import type { ActiveExchanges } from '../../inference/active-exchanges.ts';
import type { CallResult } from '../../inference/types.ts';
import type { Exchanges } from '../../runtime/entry/caller-watch.ts';
import type { EntryCall } from '../../runtime/entry/entry-call.ts';
import { readRun } from '../../runtime/entry/read-run.ts';
import { openService } from '../../runtime/entry/service-desk.ts';
import type { ServiceDesk, ServiceProtocol } from '../../runtime/entry/service-desk.ts';
import { createServiceRuns } from '../../runtime/entry/service-runs.ts';
import type { SentMessage } from '../../runtime/entry/service-runs.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import type { Store } from '../../store/store.ts';
import { readKey } from '../../surfaces/carriers.ts';
import type { Carrier } from '../../protocols/family.ts';
import { admitCall } from '../../surfaces/admit-call.ts';
import type { GateDeps, KeyInUse } from '../../surfaces/gate.ts';
import { onceClosed } from '../../surfaces/http-exchange.ts';
import type { Handler, Reply } from '../../surfaces/http-exchange.ts';
import { readBody } from '../../surfaces/read-body.ts';
import { watchKey } from '../../surfaces/standing-stream.ts';
import { segmentsBelow } from '../http/resource-exchange.ts';
import type { HandlersOf } from './lazy-routes.ts';
import { SERVICES_PATH } from './outlines.ts';
import type { SERVICE_ROUTES } from './outlines.ts';

export interface ServiceRoutesDeps extends GateDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly sealer: Sealer;
  readonly desk: ServiceDesk;
  readonly sessions: Sessions;
  /** Carriers in which keys are looked for. */
  readonly carriers: readonly Carrier[];
  /** Bytes. */
  readonly maxBodyBytes: number;
  readonly resourceValues: ValueBound;
  /** Calls that a stop ends. */
  readonly active: ActiveExchanges;
  /** Streams that have no end of their own and that a stop need not wait for. */
  readonly standing: Exchanges;
  onBug(thrown: unknown, requestId: string): void;
}

type Serve = (call: EntryCall, body: () => Promise<Buffer>) => Promise<Reply | CallResult>;

/**
 * Handlers of the three ways to call a Service, for keys with the scope `endpoints` (contract: Services).
 */
export function serviceHandlers(deps: ServiceRoutesDeps): HandlersOf<typeof SERVICE_ROUTES> {
  const values = deps.resourceValues;
  const runs = createServiceRuns(deps.sessions, deps.desk);
  const mcp = lazy('Services over MCP', async () => {
    const { openMcpEntry } = await import('../../runtime/entry/mcp/open-mcp-entry.ts');
    return openMcpEntry({ ...deps, runs });
  });
  const acp = lazy('Services over ACP', async () => {
    const { createAcpEntry } = await import('../../runtime/entry/acp/acp-entry.ts');
    return createAcpEntry({ ...deps, runs });
  });
  const run: Serve = async ({ service, payer, exchange: { named } }, body) => {
    const message = readRun(await readInSlices(await body(), { values }));
    const also = named && ((sent: SentMessage) => named.answered(toRunReply(sent)));
    return toRunReply(await runs.send(service, payer, { also, ...message }));
  };
  const to = (protocol: ServiceProtocol, serve: Serve): Handler => asCaller(protocol, serve, deps);
  const postMcp: Serve = async (call, body) => (await mcp()).post({ ...call, body: await body() });
  const postAcp: Serve = async (call, body) => (await acp()).post({ ...call, body: await body() });
  return {
    run: to('rest', run),
    listenMcp: to('mcp', async (call) => (await mcp()).listen(call)),
    postMcp: to('mcp', postMcp),
    closeMcp: to('mcp', async (call) => (await mcp()).close(call)),
    postAcp: to('acp', postAcp),
  };
}

function toRunReply({ sessionId, event: { id, type, processed_at } }: SentMessage): Reply {
  return { status: 202, body: { session_id: sessionId, events: [{ id, type, processed_at }] } };
}

function asCaller(protocol: ServiceProtocol, serve: Serve, deps: ServiceRoutesDeps): Handler {
  return async (exchange) => {
    const { request, response, search, path } = exchange;
    const key = readKey(deps.carriers, request.headers, search);
    const inUse: KeyInUse = { key, need: { scope: 'endpoints', use: 'call' } };
    const { principal, leave } = await admitCall(exchange, inUse, deps);
    onceClosed(response, leave);
    const { keyId, keyName, organizationId, scopes, role } = principal;
    const seesAll = (scopes === null || scopes.has('sessions')) && allows(role, 'content');
    const [id = ''] = segmentsBelow(SERVICES_PATH, path);
    const service = await openService(deps.desk, { organization: organizationId, id }, protocol);
    const payer = { keyId, keyName, organizationId };
    const call: EntryCall = {
      exchange,
      service,
      payer,
      seesAll,
      leave,
      watchKey: (end) => watchKey(end, inUse, deps),
    };
    const bounds = { limit: deps.maxBodyBytes, holder: keyId };
    const reply = await serve(call, () => readBody(exchange, bounds));
    // The stream of a turn no longer needs the message: it is in the log.
    exchange.intake.release();
    return reply;
  };
}
