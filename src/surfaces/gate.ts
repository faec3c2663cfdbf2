import { GatewayError } from '../core/errors.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { ConcurrencyLimiter, RateLimiter } from '../usage/limiter.ts';
import type { Principal } from '../usage/principal.ts';

/** What the scope list of a restricted key can name (decisions: Scope values). */
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
 * that fails answers. Spending and the body come after, where the model and its price are known. Without
 * a scope every key may pass.
 */
export async function admit(
  key: string | undefined,
  scope: Scope | null,
  deps: GateDeps,
): Promise<Admitted> {
  const platform = deps.rates.admitPlatform();
  if (platform !== true && !(await platform)) throw new GatewayError('global_rate_limited');
  if (key === undefined) throw new GatewayError('missing_api_key');
  const found = deps.lookup(key);
  const principal = found instanceof Promise ? await found.catch(tellFailure(scope)) : found;
  if (typeof principal === 'string') throw new GatewayError(REFUSALS[principal]);
  const rate = deps.rates.admitKey(principal);
  if (rate !== true && !(await rate)) throw new GatewayError('key_rate_limited');
  if (scope !== null && !hasScope(principal, scope)) throw new GatewayError('insufficient_scope');
  if (!principal.organizationEnabled) throw new GatewayError('organization_disabled');
  if (principal.concurrencyCap === null) return { principal, leave: NOTHING_HELD };
  const leave = await deps.concurrency.enter(principal);
  if (!leave) throw new GatewayError('key_concurrency_exceeded');
  return { principal, leave };
}

/** Where calls are recorded, one whose key cannot be looked up is told as one that cannot be recorded. */
function tellFailure(scope: Scope | null): (cause: unknown) => never {
  return (cause) => {
    const isRecorded = scope === 'inference' || scope === 'run';
    throw isRecorded ? new GatewayError('persistence_failed', { cause }) : cause;
  };
}

function hasScope(principal: Principal, scope: Scope): boolean {
  return principal.scopes === null ? scope !== 'admin' : principal.scopes.has(scope);
}
