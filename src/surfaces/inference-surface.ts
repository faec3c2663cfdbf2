import { GatewayError, toGatewayError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Protocol } from '../core/protocol-id.ts';
import type { Spools } from '../core/memory/spool.ts';
import type { InferenceDeps } from '../inference/run-inference.ts';
import { runInference } from '../inference/run-inference.ts';
import type { CallResult } from '../inference/types.ts';
import type { TaskTracker } from '../inference/task-tracker.ts';
import type { RequestAddress, WireProtocol } from '../protocols/protocol.ts';
import type { Catalog, ModelType } from '../routing/catalog.ts';
import type { Principal } from '../usage/principal.ts';
import { readKey } from './carriers.ts';
import { toFamilyError } from './family.ts';
import type { Family } from './family.ts';
import { watchClient } from './http-exchange.ts';
import type { Handler, HttpExchange } from './http-exchange.ts';
import { admit, INFERENCE } from './gate.ts';
import type { Admitted, GateDeps } from './gate.ts';
import type { ValueBound } from '../core/json/json-document.ts';
import { readRequest } from './read-request.ts';
import { isForm, readForm } from './read-form.ts';
import type { ReceivedForm } from './read-form.ts';

/** A public inference endpoint: its wire protocol and how it is spoken to (contract: Endpoints). */
export interface InferenceSurface {
  /** Name in records and reports. */
  readonly name: string;
  /** Paths in the router's notation. */
  readonly paths: readonly string[];
  readonly family: Family;
  readonly protocol: WireProtocol;
  /** False where a repeated call may be billed twice. */
  readonly repeatable: boolean;
  /** True: nothing is charged. Default false. */
  readonly free?: boolean;
  /** The only type of model that it takes; any other answers 400. Absent: whatever speaks the protocol. */
  readonly modelType?: ModelType;
  /** Takes `multipart/form-data`: `also`, or `only` (anything else answers 400). Default never. */
  readonly forms?: 'also' | 'only';
  /**
   * Reads an address that says more than the protocol. Throws `not_found` or
   * `model_not_found`. Default: the content type alone.
   */
  readonly address?: (exchange: HttpExchange, catalog: Catalog) => RequestAddress;
  /** Request that shows what came of the call with this id. Default: its record. */
  readonly lookUp?: (id: string) => string;
  /** The surface that an address means, where several of one family share a path. Default: this one. */
  readonly variant?: (exchange: HttpExchange) => InferenceSurface | undefined;
}

export interface SurfaceDeps extends GateDeps {
  inference: InferenceDeps;
  /** The catalog of this moment; a request keeps the one it started with. */
  catalog(): Catalog;
  /** Bytes. */
  maxBodyBytes: number;
  bodyValues: ValueBound;
  /** Spools of forms. */
  spools: Spools;
  /** Trackers of work that outlives its call, by protocol. */
  trackers?: ReadonlyMap<Protocol, TaskTracker>;
}

const NO_BODY = Buffer.alloc(0);

/** The handler of one inference endpoint. */
export function createInferenceHandler(shared: InferenceSurface, deps: SurfaceDeps): Handler {
  return async (exchange) => {
    const surface = shared.variant?.(exchange) ?? shared;
    const { principal, leave } = await admitFunded(surface, exchange, deps);
    try {
      const result = await run(surface, { exchange, principal }, deps);
      leaveAtEnd(result, exchange, leave);
      return result;
    } catch (error) {
      leave();
      throw error;
    }
  };
}

/**
 * Lets a request of the family in whose key may call models and has money left; the caller calls
 * `leave` when the request is over.
 */
export async function admitFunded(
  { family, name }: Pick<InferenceSurface, 'family' | 'name'>,
  exchange: HttpExchange,
  deps: GateDeps & Pick<SurfaceDeps, 'inference'>,
): Promise<Admitted> {
  const key = readKey(family.carriers, exchange.request.headers, exchange.search);
  let admitted: Admitted | undefined;
  try {
    admitted = await admit(key, INFERENCE, deps);
    const checked = deps.inference.ledger.checkFunds(admitted.principal);
    if (checked) await checked;
    return admitted;
  } catch (thrown) {
    admitted?.leave();
    const cause = toGatewayError(thrown);
    const told = toFamilyError(family, cause);
    const payer = admitted?.principal ?? (await payerOf(key, cause, deps));
    deps.inference.refusals.note({ ...headOf(exchange, name), payer, told, cause });
    throw told;
  }
}

/** Refusals by what is known of a key, which is then looked up again. */
const KEY_IS_KNOWN: ReadonlySet<ErrorCode> = new Set([
  'key_rate_limited',
  'key_concurrency_exceeded',
  'insufficient_scope',
  'organization_disabled',
]);

/** Whose key it is that was refused; undefined where that does not matter, or is not known. */
export async function payerOf(
  key: string | undefined,
  { code }: GatewayError,
  { lookup }: GateDeps,
): Promise<Principal | undefined> {
  if (key === undefined || !KEY_IS_KNOWN.has(code)) return undefined;
  const found = await Promise.resolve(lookup(key)).catch(() => undefined);
  return typeof found === 'object' ? found : undefined;
}

function headOf({ id, at, startedAt }: HttpExchange, surface: string) {
  return { id, at, startedAt, surface, model: '', stream: false };
}

async function run(
  surface: InferenceSurface,
  { exchange, principal }: { exchange: HttpExchange; principal: Principal },
  deps: SurfaceDeps,
): Promise<CallResult> {
  const { request, response, named } = exchange;
  const { family, protocol } = surface;
  const { keyId: holder } = principal;
  const catalog = deps.catalog();
  const toClientError = (error: GatewayError, statuses?: readonly (number | null)[]) =>
    toFamilyError(family, error, statuses);
  let form: ReceivedForm | undefined;
  let isRead = false;
  try {
    const address = surface.address?.(exchange, catalog) ?? {
      contentType: request.headers['content-type'],
    };
    if (surface.forms) form = await readFormOf(surface, { exchange, holder }, deps);
    const body = form ? NO_BODY : await readRequest(exchange, { ...deps, holder });
    isRead = true;
    return await runInference(
      {
        id: exchange.id,
        at: exchange.at,
        startedAt: exchange.startedAt,
        surface: surface.name,
        protocol,
        principal,
        catalog,
        body,
        headers: request.headers,
        address: form ? { ...address, form } : address,
        client: watchClient(response),
        repeatable: surface.repeatable,
        onBodySpent: () => exchange.intake.release(),
        free: surface.free,
        modelType: surface.modelType,
        tracker: deps.trackers?.get(protocol.id),
        beforeSend: named && (() => named.willAct(surface.lookUp?.(exchange.id))),
        toClientError,
      },
      deps.inference,
    );
  } catch (thrown) {
    // Refusals before a record began are translated here; the rest is in the family's terms already.
    const cause = toGatewayError(thrown);
    const told = toClientError(cause);
    const head = headOf(exchange, surface.name);
    if (!isRead) deps.inference.refusals.note({ ...head, payer: principal, told, cause });
    throw told;
  } finally {
    if (form) await form.dispose();
  }
}

async function readFormOf(
  { forms }: InferenceSurface,
  { exchange, holder }: { exchange: HttpExchange; holder: string },
  { maxBodyBytes: limit, spools }: SurfaceDeps,
): Promise<ReceivedForm | undefined> {
  if (isForm(exchange.request))
    return readForm(exchange, { limit, holder, spools, boundary: exchange.id });
  if (forms !== 'only') return undefined;
  const message = 'the body must be multipart/form-data';
  throw new GatewayError('invalid_request', { message });
}

function leaveAtEnd(result: CallResult, { response }: HttpExchange, leave: () => void): void {
  // A response that the client closed meanwhile does not say so again.
  if (result.type === 'stream' && !response.closed) response.once('close', leave);
  else leave();
}
