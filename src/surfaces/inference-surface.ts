import { GatewayError, toGatewayError } from '../core/errors.ts';
import type { Use } from '../core/access.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Protocol } from '../protocols/registry.ts';
import type { Spools } from '../core/memory/spool.ts';
import type { InferenceDeps } from '../inference/run-inference.ts';
import { runInference } from '../inference/run-inference.ts';
import type { CallResult, TaskTracker } from '../inference/types.ts';
import type { RequestAddress } from '../protocols/protocol.ts';
import type { InferenceSurface } from '../protocols/surface.ts';
import type { Catalog } from '../routing/catalog.ts';
import type { Principal } from '../usage/principal.ts';
import { decideAll, firstRefusal } from '../usage/rates/pending-claim.ts';
import { resolveBareName } from './bare-names.ts';
import { readKey } from './carriers.ts';
import { readClientCredential } from './client-credential.ts';
import { toFamilyError } from './family-error.ts';
import { CallNotMade, watchClient } from './http-exchange.ts';
import type { Handler, HttpExchange } from './http-exchange.ts';
import { admitNamed } from './admit-call.ts';
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
/** Body of a request that is no more than its address. */
const NO_MEMBERS = Buffer.from('{}');

/** The handler of one inference endpoint. */
export function createInferenceHandler(shared: InferenceSurface, deps: SurfaceDeps): Handler {
  return (exchange) => {
    const surface = shared.variant?.(exchange.path) ?? shared;
    const { family, name, use } = surface;
    const call = { family, name, use, beginsAtOnce: true } as const;
    const admitted = admitFunded(call, exchange, deps);
    if (!(admitted instanceof Promise)) return run(surface, { exchange, admitted }, deps);
    return admitted.then((later) => run(surface, { exchange, admitted: later }, deps));
  };
}

export interface FundedCall extends Pick<InferenceSurface, 'family' | 'name'> {
  /** Present: it asks about work of an earlier call, which needs this right and no money. */
  readonly use?: Use | undefined;
  /** The commit that begins the call decides about its claims on rates. Default: they are decided before. */
  readonly beginsAtOnce?: true;
}

type FundingDeps = GateDeps & Pick<SurfaceDeps, 'inference'>;

/**
 * Lets a request of the family in whose key may call models and has money left; the caller calls
 * `leave` when the request is over. A promise only where something has to be waited for.
 */
export function admitFunded(
  call: FundedCall,
  exchange: HttpExchange,
  deps: FundingDeps,
): LetIn | Promise<LetIn> {
  const key = readKey(call.family.carriers, exchange.request.headers, exchange.search);
  let found: LetIn | Promise<LetIn> | undefined;
  let funded: Promise<void> | undefined;
  try {
    const { begin } = exchange;
    const need = call.use ? { ...INFERENCE, use: call.use } : INFERENCE;
    found = begin ? admitNamed(begin, { key, need }, deps) : letIn(key, need, deps);
    if (!(found instanceof Promise)) {
      if (!call.use) funded = deps.inference.ledger.checkFunds(found.principal) ?? undefined;
      if (!funded && (call.beginsAtOnce || found.claims.length === 0)) return found;
    }
  } catch (thrown) {
    funded = Promise.reject(thrown);
  }
  return admitLater({ ...call, key, found, funded }, exchange, deps);
}

interface Admission extends FundedCall {
  readonly key: string | undefined;
  /** Absent where it was refused at once. */
  readonly found: LetIn | Promise<LetIn> | undefined;
  /** Absent: that has yet to be asked. */
  readonly funded: Promise<void> | undefined;
}

async function admitLater(
  { family, name, use, beginsAtOnce, key, found, funded }: Admission,
  exchange: HttpExchange,
  deps: FundingDeps,
): Promise<LetIn> {
  let admitted: LetIn | undefined;
  try {
    admitted = await found;
    await funded;
    admitted = admitted as LetIn;
    if (!funded && !use) await deps.inference.ledger.checkFunds(admitted.principal);
    if (!beginsAtOnce && admitted.claims.length > 0) await decideAll(admitted.claims);
    return admitted;
  } catch (thrown) {
    if (thrown instanceof CallNotMade) throw thrown;
    admitted?.leave();
    const cause = toGatewayError(await firstRefusal(admitted?.claims ?? [], thrown));
    const told = toFamilyError(family, cause);
    const payer = admitted?.principal ?? (await payerOf(key, cause, deps));
    deps.inference.refusals.note({ ...headOf(exchange, name), payer, told, cause });
    throw told;
  }
}

/** Refusals by the cached state of a key, which is then looked up again. */
const KEY_IS_KNOWN: ReadonlySet<ErrorCode> = new Set([
  'key_rate_limited',
  'key_concurrency_exceeded',
  'insufficient_scope',
  'organization_disabled',
]);

/** Owner of the key that was refused; undefined where that does not matter, or is not known. */
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

/** The rest of a request that was let in, which it leaves in any case. */
async function run(
  surface: InferenceSurface,
  { exchange, admitted }: { exchange: HttpExchange; admitted: LetIn },
  deps: SurfaceDeps,
): Promise<CallResult> {
  const { request, response, named } = exchange;
  const { family, protocol } = surface;
  const { principal, claims, leave } = admitted;
  const { keyId: holder } = principal;
  const catalog = deps.catalog();
  const toClientError = (error: GatewayError, statuses?: readonly (number | null)[]) =>
    toFamilyError(family, error, statuses);
  let form: ReceivedForm | undefined;
  let isRead = false;
  try {
    const address = addressOf(surface, exchange, catalog);
    const { question } = address;
    const tracker = deps.trackers?.get(protocol.id);
    if (question) address.model = (await tracker?.modelOf?.(principal, question)) ?? '';
    if (surface.forms) form = await readFormOf(surface, { exchange, holder }, deps);
    const body = question ? NO_MEMBERS : form ? NO_BODY : await readRequest(exchange, holder, deps);
    isRead = true;
    const result = await runInference(
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
        clientCredential: (provider) => readClientCredential({ family, provider }, exchange, deps),
        address: form ? { ...address, form } : address,
        client: watchClient(response),
        repeatable: surface.repeatable,
        onBodySpent: () => exchange.intake.release(),
        free: surface.free,
        modelType: surface.modelType,
        tracker,
        beforeSend: named && (() => named.willAct(surface.lookUp?.(exchange.id))),
        toClientError,
      },
      deps.inference,
    );
    leaveAtEnd(result, exchange, leave);
    return result;
  } catch (thrown) {
    leave();
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
