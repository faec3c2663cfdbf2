import { allows } from '../core/access.ts';
import type { Use } from '../core/access.ts';
import { GatewayError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Caller } from '../usage/rates/rate-shares.ts';
import type { ConcurrencyLimiter, RateLimiter } from '../usage/rates/limiter.ts';
import { decideAll, firstRefusal } from '../usage/rates/pending-claim.ts';
import type { PendingClaim } from '../usage/rates/pending-claim.ts';
import type { Principal } from '../usage/principal.ts';

/** Scopes that the list of a restricted key can name (decisions: Scope values). */
export type Scope =
  | 'inference'
  | 'models'
  | 'assets'
  | 'run'
  | 'agents'
  | 'sessions'
  | 'endpoints'
  | 'deployments'
  | 'credentials'
  | 'skills'
  | 'account'
  | 'admin';

/** Demands on a key: a scope, which null leaves open, and a role that allows what the call does. */
export interface Need {
  readonly scope: Scope | null;
  readonly use: Use;
}

/** Demands on any caller with credentials. */
export const SELF: Need = { scope: null, use: 'self' };
/** Demands on keys that call models. */
export const INFERENCE: Need = { scope: 'inference', use: 'call' };

/** Key of a call, and the rights it needs. */
export interface KeyInUse {
  readonly key: string | undefined;
  readonly need: Need;
}

export type KeyLookup = (key: string) => KeyFound | Promise<KeyFound>;

export type KeyFound = Principal | 'unknown' | 'revoked' | 'expired';

export interface GateDeps {
  lookup: KeyLookup;
  rates: RateLimiter;
  concurrency: ConcurrencyLimiter;
}

export interface Admitted {
  principal: Principal;
  /** Releases the key's slot in flight; idempotent. */
  leave: () => void;
}

/** Let in as far as it is known without the store. */
export interface LetIn extends Admitted {
  /** Claims on rates that the store decides; whatever else is found, their refusal is the answer. */
  claims: readonly PendingClaim[];
}

const REFUSALS = {
  unknown: 'invalid_api_key',
  revoked: 'api_key_revoked',
  expired: 'api_key_expired',
} as const satisfies Record<string, ErrorCode>;

const NOTHING_HELD = (): void => undefined;

/**
 * The checks that every public request passes, in the order of requirement auth.check-order; the first
 * that fails answers. Spending and the body come after, where the model and its price are known.
 */
export async function admit(
  key: string | undefined,
  need: Need,
  deps: GateDeps,
): Promise<Admitted> {
  const { principal, leave, claims } = await letIn(key, need, deps);
  if (claims.length === 0) return { principal, leave };
  try {
    await decideAll(claims);
    return { principal, leave };
  } catch (refusal) {
    leave();
    throw refusal;
  }
}

/**
 * The same checks, for a call that begins at once: the commit that begins it decides about its rates. A
 * promise only where something has to be waited for.
 */
export function letIn(key: string | undefined, need: Need, deps: GateDeps): LetIn | Promise<LetIn> {
  const asking: Asking = { deps, claims: [] };
  const { claims } = asking;
  try {
    const known = admitAsWhoIs(key, need.scope, asking);
    if (known instanceof Promise) return letInLater(known, need, asking);
    checkKey(known, need, asking);
    if (known.concurrencyCap === null) return { principal: known, leave: NOTHING_HELD, claims };
    return takePlace(known, asking);
  } catch (thrown) {
    if (claims.length === 0) throw thrown;
    return refuseAfter(claims, thrown);
  }
}

async function letInLater(known: Promise<Principal>, need: Need, asking: Asking): Promise<LetIn> {
  const { claims } = asking;
  try {
    const principal = await known;
    checkKey(principal, need, asking);
    if (principal.concurrencyCap === null) return { principal, leave: NOTHING_HELD, claims };
    return await takePlace(principal, asking);
  } catch (thrown) {
    return refuseAfter(claims, thrown);
  }
}

/** The refusal of a rate comes before every other one. */
async function refuseAfter(claims: readonly PendingClaim[], thrown: unknown): Promise<never> {
  throw claims.length === 0 ? thrown : await firstRefusal(claims, thrown);
}

function checkKey(principal: Principal, need: Need, { deps, claims }: Asking): void {
  const { rates } = deps;
  if (!take(rates.admitKey(principal, claims[0]), claims))
    throw rates.refuseKey?.(principal) ?? new GatewayError('key_rate_limited');
  checkRights(principal, need);
}

/** @throws GatewayError that says what a key may not do, or that its organization may do nothing */
export function checkRights(principal: Principal, { scope, use }: Need): void {
  const isInScope = scope === null || hasScope(principal, scope);
  if (!isInScope || !allows(principal.role, use)) throw new GatewayError('insufficient_scope');
  if (!principal.organizationEnabled) throw new GatewayError('organization_disabled');
}

async function takePlace(principal: Principal, { deps, claims }: Asking): Promise<LetIn> {
  // No slot in flight for a request that a rate turns away.
  await decideAll(claims);
  return { principal, leave: await enter(principal, deps), claims };
}

/** Takes a slot in flight. @throws GatewayError `key_concurrency_exceeded` */
export async function enter(
  principal: Principal,
  { concurrency }: Pick<GateDeps, 'concurrency'>,
): Promise<() => void> {
  const leave = await concurrency.enter(principal);
  if (leave) return leave;
  const { keyId: id, keyName: name, concurrencyCap } = principal;
  const cap = concurrencyCap ?? 0;
  const amounts = { most: cap, used: cap, held: 0, needed: 1, freeAt: null };
  const limit = { owner: 'key', id, name, unit: 'in_flight', per: null, ...amounts } as const;
  throw new GatewayError('key_concurrency_exceeded', { limit });
}

/** False for a request that is turned away at once. */
function take(asked: boolean | PendingClaim, claims: PendingClaim[]): boolean {
  if (typeof asked !== 'boolean') claims.push(asked);
  return asked !== false;
}

function refusePlatform({ refusePlatform: refuse }: Refusing, caller: Caller): GatewayError {
  return refuse?.(caller) ?? new GatewayError('global_rate_limited');
}

type Refusing = Pick<RateLimiter, 'admitPlatform' | 'refusePlatform'>;

interface Asking {
  readonly deps: GateDeps;
  readonly claims: PendingClaim[];
}

/**
 * The platform's rate, then the credential. Whose request it is decides which part of the rate is open to it,
 * so the key is looked up first; its fault is reported only to admitted callers. A principal where nothing had
 * to be waited for, which is nearly always.
 */
function admitAsWhoIs(
  key: string | undefined,
  scope: Scope | null,
  asking: Asking,
): Principal | Promise<Principal> {
  const { deps } = asking;
  if (deps.rates.isPlatformFull()) throw refusePlatform(deps.rates, 'client');
  if (key === undefined) return refuseKeyless(asking);
  let found: KeyFound | Promise<KeyFound>;
  try {
    found = deps.lookup(key);
  } catch (cause) {
    return refuseUnknown(scope, cause, asking);
  }
  if (found instanceof Promise)
    return found.then(
      (later) => admitFound(later, asking),
      (cause: unknown) => refuseUnknown(scope, cause, asking),
    );
  return admitFound(found, asking);
}

function admitFound(found: KeyFound, asking: Asking): Principal {
  askPlatform(asking, callerOf(found));
  return principalOf(found);
}

function askPlatform({ deps, claims }: Asking, caller: Caller): void {
  if (!take(deps.rates.admitPlatform(caller), claims)) throw refusePlatform(deps.rates, caller);
}

/** @throws GatewayError that names the fault of an invalid key */
export function principalOf(found: KeyFound): Principal {
  if (typeof found === 'string') throw new GatewayError(REFUSALS[found]);
  return found;
}

function refuseKeyless(asking: Asking): never {
  askPlatform(asking, 'refused');
  throw new GatewayError('missing_api_key');
}

function refuseUnknown(scope: Scope | null, cause: unknown, asking: Asking): never {
  askPlatform(asking, 'client');
  return tellFailure(scope, cause);
}

/** Rejects with `global_rate_limited` or `persistence_failed`. */
export async function admitToPlatform(rates: Refusing, caller: Caller): Promise<void> {
  const claims: PendingClaim[] = [];
  if (!take(rates.admitPlatform(caller), claims)) throw refusePlatform(rates, caller);
  await decideAll(claims);
}

function callerOf(found: KeyFound): Caller {
  if (typeof found === 'string') return 'refused';
  return hasScope(found, 'admin') ? 'admin' : 'client';
}

/**
 * Throws for a key that cannot be looked up. Where calls are recorded, the call counts as one that
 * cannot be recorded.
 */
function tellFailure(scope: Scope | null, cause: unknown): never {
  const isRecorded = scope === 'inference' || scope === 'run';
  throw isRecorded ? new GatewayError('persistence_failed', { cause }) : cause;
}

export function hasScope(principal: Principal, scope: Scope): boolean {
  return principal.scopes === null ? scope !== 'admin' : principal.scopes.has(scope);
}
