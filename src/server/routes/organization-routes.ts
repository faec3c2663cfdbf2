import { allows } from '../../core/access.ts';
import type { Use } from '../../core/access.ts';
import type { OrganizationApi } from '../../resources/store/define-resource.ts';
import type { Repository } from '../../resources/store/repository.ts';
import type { CallerRights } from '../../resources/store/resource-request.ts';
import type { Carrier } from '../../protocols/family.ts';
import { readKey } from '../../surfaces/carriers.ts';
import { admitCall } from '../../surfaces/admit-call.ts';
import { hasScope } from '../../surfaces/gate.ts';
import type { GateDeps, Need } from '../../surfaces/gate.ts';
import type { Handler, HttpExchange } from '../../surfaces/http-exchange.ts';
import type { Principal } from '../../usage/principal.ts';
import type { ResourceBodies } from '../http/resource-exchange.ts';

export interface OrganizationDeps extends GateDeps, ResourceBodies {
  repository: Repository;
  /** `server.compat.resource_x_api_key`. */
  resourceXApiKey: boolean;
}

/** Only Bearer, unless the operator lets older clients send `x-api-key` too. */
export function resourceCarriers({
  resourceXApiKey,
}: Pick<OrganizationDeps, 'resourceXApiKey'>): readonly Carrier[] {
  return resourceXApiKey ? ['bearer', 'x-api-key'] : ['bearer'];
}

/** Demands on keys below a resource's path; the use may depend on the call. */
export interface OrganizationNeed {
  readonly scope: OrganizationApi['scope'];
  readonly use: Use | ((exchange: HttpExchange) => Use);
}

/** Runs `handle` for the owner of an admitted key; used by everything below a resource's path. */
export function forOrganization(
  { scope, use }: OrganizationNeed,
  deps: OrganizationDeps,
  handle: (exchange: HttpExchange, principal: Principal) => ReturnType<Handler>,
): Handler {
  const carriers = resourceCarriers(deps);
  return async (exchange) => {
    const key = readKey(carriers, exchange.request.headers, exchange.search);
    const need: Need = { scope, use: useOf(use, exchange) };
    const { principal, leave } = await admitCall(exchange, { key, need }, deps);
    try {
      return await handle(exchange, principal);
    } finally {
      leave();
    }
  };
}

/** The use of a call, where that depends on it. */
export function useOf(use: OrganizationNeed['use'], exchange: HttpExchange): Use {
  return typeof use === 'function' ? use(exchange) : use;
}

/** Rights of a key, of which the scope `admin` reaches everything. */
export function rightsOf(principal: Principal): CallerRights {
  return {
    has: (scope) => hasScope(principal, scope) || hasScope(principal, 'admin'),
    may: (use) => allows(principal.role, use),
  };
}
