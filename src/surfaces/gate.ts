import { allows } from '../core/access.ts';
import type { Use } from '../core/access.ts';
import { GatewayError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Caller, ConcurrencyLimiter, RateLimiter } from '../usage/rates/limiter.ts';
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

/** Asked of a key: a scope, which null leaves open, and a role that allows what the call does. */
export interface Need {
  readonly scope: Scope | null;
  readonly use: Use;
}

/** Asked of whoever is somebody. */
export const SELF: Need = { scope: null, use: 'self' };
/** Asked of keys that call models. */
export const INFERENCE: Need = { scope: 'inference', use: 'call' };

export type KeyLookup = (key: string) => KeyFound | Promise<KeyFound>;

export type KeyFound = Principal | 'unknown' | 'revoked' | 'expired';

export interface GateDeps {
  lookup: KeyLookup;
  rates: RateLimiter;
  concurrency: ConcurrencyLimiter;
}

export interface Admitted {
  principal: Principal;
  /** Gives the key's place in flight back; idempotent. */
  leave: () => void;
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
  const { scope, use } = need;
  const known = admitAsWhoIs(key, scope, deps);
  const principal = known instanceof Promise ? await known : known;
  const rate = deps.rates.admitKey(principal);
  if (rate !== true && !(await rate)) throw new GatewayError('key_rate_limited');
  const isInScope = scope === null || hasScope(principal, scope);
  if (!isInScope || !allows(principal.role, use)) throw new GatewayError('insufficient_scope');
  if (!principal.organizationEnabled) throw new GatewayError('organization_disabled');
  if (principal.concurrencyCap === null) return { principal, leave: NOTHING_HELD };
  const leave = await deps.concurrency.enter(principal);
  if (!leave) throw new GatewayError('key_concurrency_exceeded');
  return { principal, leave };
}

/**
 * The platform's rate, then the credential. Whose request it is decides which part of the rate is open
 * to it, so the key is looked up first; what is wrong with it is told only to those who are let in. A
 * principal where nothing had to be waited for, which is nearly always.
 */
function admitAsWhoIs(
  key: string | undefined,
  scope: Scope | null,
  deps: GateDeps,
): Principal | Promise<Principal> {
  if (deps.rates.isPlatformFull()) throw new GatewayError('global_rate_limited');
  if (key === undefined) return refuseKeyless(deps);
  let found: KeyFound | Promise<KeyFound>;
  try {
    found = deps.lookup(key);
  } catch (cause) {
    return refuseUnknown(scope, cause, deps);
  }
  if (found instanceof Promise)
    return found.then(
      (later) => admitFound(later, deps),
      (cause: unknown) => refuseUnknown(scope, cause, deps),
    );
  return admitFound(found, deps);
}

function admitFound(found: KeyFound, { rates }: GateDeps): Principal | Promise<Principal> {
  const admitted = admitToPlatform(rates, callerOf(found));
  return admitted ? admitted.then(() => principalOf(found)) : principalOf(found);
}

/** @throws GatewayError that says what is wrong with a key that is none */
export function principalOf(found: KeyFound): Principal {
  if (typeof found === 'string') throw new GatewayError(REFUSALS[found]);
  return found;
}

async function refuseKeyless({ rates }: GateDeps): Promise<never> {
  await admitToPlatform(rates, 'refused');
  throw new GatewayError('missing_api_key');
}

async function refuseUnknown(
  scope: Scope | null,
  cause: unknown,
  { rates }: GateDeps,
): Promise<never> {
  await admitToPlatform(rates, 'client');
  return tellFailure(scope, cause);
}

/**
 * Undefined where the caller is let in at once.
 *
 * @throws GatewayError `global_rate_limited`, `persistence_failed`
 */
export function admitToPlatform(
  rates: Pick<RateLimiter, 'admitPlatform'>,
  caller: Caller,
): Promise<void> | undefined {
  const admitted = rates.admitPlatform(caller);
  if (admitted instanceof Promise) return admitted.then(refuseUnless);
  refuseUnless(admitted);
  return undefined;
}

function refuseUnless(isAdmitted: boolean): void {
  if (!isAdmitted) throw new GatewayError('global_rate_limited');
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

function hasScope(principal: Principal, scope: Scope): boolean {
  return principal.scopes === null ? scope !== 'admin' : principal.scopes.has(scope);
}
