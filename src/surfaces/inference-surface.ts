import { GatewayError, toGatewayError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Protocol } from '../protocols/registry.ts';
import type { Spools } from '../core/memory/spool.ts';
import type { InferenceDeps } from '../inference/run-inference.ts';
import { runInference } from '../inference/run-inference.ts';
import type { CallResult } from '../inference/types.ts';
import type { TaskTracker } from '../inference/task-tracker.ts';
import type { RequestAddress } from '../protocols/protocol.ts';
import type { InferenceSurface } from '../protocols/surface.ts';
import type { Catalog } from '../routing/catalog.ts';
import type { Principal } from '../usage/principal.ts';
import { decideAll, firstRefusal } from '../usage/rates/pending-claim.ts';
import { resolveBareName } from './bare-names.ts';
import { readKey } from './carriers.ts';
import { toFamilyError } from './family-error.ts';
import { watchClient } from './http-exchange.ts';
import type { Handler, HttpExchange } from './http-exchange.ts';
import { INFERENCE, letIn } from './gate.ts';
import type { GateDeps, LetIn } from './gate.ts';
import type { ValueBound } from '../core/json/json-document.ts';
import { readRequest } from './read-request.ts';
import { isForm, readForm } from './read-form.ts';
import type { ReceivedForm } from './read-form.ts';

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
    const surface = shared.variant?.(exchange.path) ?? shared;
    const { family, name } = surface;
    const admitted = await admitFunded({ family, name, beginsAtOnce: true }, exchange, deps);
    const { leave } = admitted;
    try {
      const result = await run(surface, { exchange, admitted }, deps);
      leaveAtEnd(result, exchange, leave);
      return result;
    } catch (error) {
      leave();
      throw error;
    }
  };
}

export interface FundedCall extends Pick<InferenceSurface, 'family' | 'name'> {
  /** The commit that begins the call decides about its claims on rates. Default: they are decided before. */
  readonly beginsAtOnce?: true;
}

/**
 * Lets a request of the family in whose key may call models and has money left; the caller calls
 * `leave` when the request is over.
 */
export async function admitFunded(
  { family, name, beginsAtOnce }: FundedCall,
  exchange: HttpExchange,
  deps: GateDeps & Pick<SurfaceDeps, 'inference'>,
): Promise<LetIn> {
  const key = readKey(family.carriers, exchange.request.headers, exchange.search);
  let admitted: LetIn | undefined;
  try {
    admitted = await letIn(key, INFERENCE, deps);
    const checked = deps.inference.ledger.checkFunds(admitted.principal);
    if (checked) await checked;
    if (!beginsAtOnce && admitted.claims.length > 0) await decideAll(admitted.claims);
    return admitted;
  } catch (thrown) {
    admitted?.leave();
    const cause = toGatewayError(await firstRefusal(admitted?.claims ?? [], thrown));
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
  { exchange, admitted }: { exchange: HttpExchange; admitted: LetIn },
  deps: SurfaceDeps,
): Promise<CallResult> {
  const { request, response, named } = exchange;
  const { family, protocol } = surface;
  const { principal, claims } = admitted;
  const { keyId: holder } = principal;
  const catalog = deps.catalog();
  const toClientError = (error: GatewayError, statuses?: readonly (number | null)[]) =>
    toFamilyError(family, error, statuses);
  let form: ReceivedForm | undefined;
  let isRead = false;
  try {
    const address = addressOf(surface, exchange, catalog);
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
        claims,
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
    const cause = toGatewayError(isRead ? thrown : await firstRefusal(claims, thrown));
    const told = toClientError(cause);
    const head = headOf(exchange, surface.name);
    if (!isRead) deps.inference.refusals.note({ ...head, payer: principal, told, cause });
    throw told;
  } finally {
    if (form) await form.dispose();
  }
}

function addressOf(
  { address, protocol }: InferenceSurface,
  { path, search, request }: HttpExchange,
  catalog: Catalog,
): RequestAddress {
  if (!address) return { contentType: request.headers['content-type'] };
  const read = address(path, search);
  if (read.model === undefined || !protocol.bareNames) return read;
  const found = resolveBareName(read.model, protocol.id, catalog);
  return { ...read, model: found?.name ?? read.model };
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
