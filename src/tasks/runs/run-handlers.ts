import type { Use } from '../../core/access.ts';
import type { Buffer } from 'node:buffer';
import type { ActiveExchanges } from '../../inference/active-exchanges.ts';
import { readOrigin } from '../../inference/request-origin.ts';
import type { OriginRules } from '../../inference/request-origin.ts';
import type { Ledger } from '../../usage/ledger/ledger.ts';
import type { Refusals } from '../../usage/requests/refusals.ts';
import type { Principal } from '../../usage/principal.ts';
import { GatewayError, toGatewayError } from '../../core/errors.ts';
import type { ValueBound } from '../../core/json/json-document.ts';
import type { NamedCall } from '../../store/named-call.ts';
import type { Op } from '../../store/store.ts';
import { readKey } from '../../surfaces/carriers.ts';
import { admitCall } from '../../surfaces/admit-call.ts';
import type { Admitted, GateDeps } from '../../surfaces/gate.ts';
import { CallNotMade, onceClosed } from '../../surfaces/http-exchange.ts';
import type { Handler, HttpExchange, Reply } from '../../surfaces/http-exchange.ts';
import { payerOf } from '../../surfaces/inference-surface.ts';
import { pathBelow } from '../../surfaces/path-below.ts';
import { readRequest } from '../../surfaces/read-request.ts';
import { RUN_PATH } from '../task-paths.ts';
import { readRunRequest, waitOf } from './read-run-request.ts';
import type { RunService } from './run-service.ts';
import { INTERRUPTED, isOver } from './run-record.ts';
import type { RunRecord } from './run-record.ts';
import { toRunBody } from './run-views.ts';

export interface RunHandlersDeps extends GateDeps {
  readonly runs: RunService;
  readonly inference: {
    readonly ledger: Ledger;
    readonly active: ActiveExchanges;
    readonly origins?: OriginRules | undefined;
    readonly refusals: Pick<Refusals, 'note'>;
  };
  readonly maxBodyBytes: number;
  readonly bodyValues: ValueBound;
  /** Milliseconds that a call waits for the end of its run. */
  readonly runWaitMs: number;
}

/** `POST /v1/run` and `GET /v1/run/{id}`, for keys with the scope `run`. */
export function createRunHandlers(deps: RunHandlersDeps): { create: Handler; get: Handler } {
  const { runs } = deps;
  return {
    async create(exchange) {
      const { principal, leave } = await admitToCreate(exchange, deps);
      try {
        return await answer(await make(exchange, principal, deps), deps);
      } finally {
        leave();
      }
    },
    async get(exchange) {
      const { principal, leave } = await admitTo(exchange, 'content', deps);
      try {
        const record = await runs.find(principal.organizationId, idOf(exchange));
        return { status: 200, headers: JSON_TYPE, body: await runs.show(record) };
      } finally {
        leave();
      }
    },
  };
}

const JSON_TYPE = { 'content-type': 'application/json' };

function admitTo(exchange: HttpExchange, use: Use, deps: GateDeps): Promise<Admitted> {
  const { request, search } = exchange;
  const key = readKey(['bearer'], request.headers, search);
  return admitCall(exchange, { key, need: { scope: 'run', use } }, deps);
}

/** Admits a caller who may make a run and has money left. */
async function admitToCreate(exchange: HttpExchange, deps: RunHandlersDeps): Promise<Admitted> {
  const { request, search } = exchange;
  let admitted: Admitted | undefined;
  try {
    admitted = await admitTo(exchange, 'call', deps);
    // A run that was made before costs nothing more.
    if (exchange.named?.earlier === undefined)
      await deps.inference.ledger.checkFunds(admitted.principal);
    return admitted;
  } catch (thrown) {
    if (thrown instanceof CallNotMade) throw thrown;
    admitted?.leave();
    const cause = toGatewayError(thrown);
    const key = readKey(['bearer'], request.headers, search);
    const payer = admitted?.principal ?? (await payerOf(key, cause, deps));
    throw noteRefusal({ exchange, payer, model: '', cause }, deps);
  }
}

interface RefusedRun {
  readonly exchange: HttpExchange;
  readonly payer: Principal | undefined;
  readonly model: string;
  readonly cause: GatewayError;
}

/** Leaves the record of a request for which no run was made; gives its error. */
function noteRefusal(
  { exchange, payer, model, cause }: RefusedRun,
  { inference }: Pick<RunHandlersDeps, 'inference'>,
): GatewayError {
  const { id, at, startedAt } = exchange;
  const head = { id, at, startedAt, surface: 'run', stream: false };
  inference.refusals.note({ ...head, payer, model, told: cause, cause });
  return cause;
}

/** The run as it is when the wait is over. */
async function make(
  exchange: HttpExchange,
  principal: Principal,
  deps: RunHandlersDeps,
): Promise<RunRecord> {
  const { record, waitMs } = await begin(exchange, principal, deps);
  // The run has its own copy, in the store.
  exchange.intake.release();
  if (exchange.named?.earlier !== undefined) return goOn(record, { exchange, waitMs }, deps);
  return waitMs === 0 ? record : waitFor(record, { exchange, waitMs }, deps);
}

/** The run that is made, or the one that an earlier call of this name made. */
async function begin(
  exchange: HttpExchange,
  principal: Principal,
  deps: RunHandlersDeps,
): Promise<{ record: RunRecord; waitMs: number }> {
  const { id: requestId, at, request: incoming, named } = exchange;
  const { runs } = deps;
  const { keyId: holder } = principal;
  let model = '';
  try {
    const request = await readRunRequest(await readRequest(exchange, holder, deps));
    ({ model } = request);
    const waitMs = waitOf(request, incoming.headers, deps.runWaitMs);
    if (named?.earlier !== undefined)
      return { record: await runs.find(principal.organizationId, named.earlier), waitMs };
    const also = named && ((made: RunRecord) => nameOps(named, made, waitMs));
    const source = { headers: incoming.headers, principal };
    const origin = readOrigin(source, undefined, deps.inference.origins);
    const asked = { requestId, at, principal, origin, request, ...(also && { also }) };
    return { record: await runs.create(asked), waitMs };
  } catch (thrown) {
    const cause = toGatewayError(thrown);
    throw noteRefusal({ exchange, payer: principal, model, cause }, deps);
  }
}

/** A run without a wait is answered as it is made; else repeats wait for the same run. */
function nameOps(named: NamedCall, record: RunRecord, waitMs: number): Promise<readonly Op[]> {
  if (waitMs === 0) return named.answered(toReply(record, toRunBody(record, undefined)));
  return named.made({ id: record.id, lookUp: `GET ${RUN_PATH}/${record.id}` });
}

/** A run whose first call died with its process. Throws `outcome_unknown` where its end is unknown. */
async function goOn(
  made: RunRecord,
  waiting: { exchange: HttpExchange; waitMs: number },
  deps: RunHandlersDeps,
): Promise<RunRecord> {
  const record = await waitFor(made, waiting, deps);
  if (record.error?.code === INTERRUPTED) throw new GatewayError('outcome_unknown');
  return record;
}

/** A client that leaves, or a gateway that stops, ends the wait; the run continues. */
async function waitFor(
  { id, payer }: RunRecord,
  { exchange, waitMs }: { exchange: HttpExchange; waitMs: number },
  { runs, inference }: RunHandlersDeps,
): Promise<RunRecord> {
  const leaving = new AbortController();
  const leave = (): void => leaving.abort();
  const waiting = { shutDown: leave };
  inference.active.add(waiting);
  onceClosed(exchange.response, leave);
  try {
    return await runs.wait(payer.organizationId, id, { ms: waitMs, signal: leaving.signal });
  } finally {
    inference.active.delete(waiting);
  }
}

async function answer(record: RunRecord, { runs }: RunHandlersDeps): Promise<Reply> {
  return toReply(record, await runs.show(record));
}

function toReply(record: RunRecord, body: Buffer): Reply {
  if (isOver(record)) return { status: 200, headers: JSON_TYPE, body };
  return { status: 202, headers: { ...JSON_TYPE, location: `${RUN_PATH}/${record.id}` }, body };
}

function idOf({ path }: HttpExchange): string {
  try {
    const [id = '', ...rest] = pathBelow(path, RUN_PATH).split('/');
    if (id !== '' && rest.length === 0) return decodeURIComponent(id);
  } catch {
    // Answered below like every other path that names nothing.
  }
  throw new GatewayError('not_found', { message: 'no such path' });
}
