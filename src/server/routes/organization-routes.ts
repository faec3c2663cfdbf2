import type { ResourceDefinition } from '../../resources/store/define-resource.ts';
import { createResourceHandler } from '../../resources/store/handlers.ts';
import type { OrganizationApi } from '../../resources/store/organization-api.ts';
import type { Repository } from '../../resources/store/repository.ts';
import type { Carrier } from '../../surfaces/carriers.ts';
import { readKey } from '../../surfaces/carriers.ts';
import { admit } from '../../surfaces/gate.ts';
import type { GateDeps } from '../../surfaces/gate.ts';
import type { Handler, HttpExchange } from '../../surfaces/http-exchange.ts';
import type { Principal } from '../../usage/principal.ts';
import { toResourceRequest } from '../http/resource-exchange.ts';
import type { ResourceBodies } from '../http/resource-exchange.ts';
import type { Method, RouteSpec } from '../http/routes.ts';

export interface OrganizationDeps extends GateDeps, ResourceBodies {
  repository: Repository;
  /** `server.compat.resource_x_api_key`. */
  resourceXApiKey: boolean;
}

const METHODS: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Routes of an organization's own resources below `/v1`, for keys with the scope of the kind. */
export function organizationRoutes(deps: OrganizationDeps): RouteSpec[] {
  return deps.repository.definitions.flatMap((definition): RouteSpec[] =>
    definition.api ? kindRoutes(definition, definition.api, deps) : [],
  );
}

/** Bearer alone, unless the operator lets older clients send `x-api-key` too. */
export function resourceCarriers({
  resourceXApiKey,
}: Pick<OrganizationDeps, 'resourceXApiKey'>): readonly Carrier[] {
  return resourceXApiKey ? ['bearer', 'x-api-key'] : ['bearer'];
}

/** Runs `handle` for the owner of an admitted key; used by everything below a resource's path. */
export function forOrganization(
  scope: OrganizationApi['scope'],
  deps: OrganizationDeps,
  handle: (exchange: HttpExchange, principal: Principal) => ReturnType<Handler>,
): Handler {
  const carriers = resourceCarriers(deps);
  return async (exchange) => {
    const key = readKey(carriers, exchange.request.headers, exchange.search);
    const { principal, leave } = await admit(key, scope, deps);
    try {
      return await handle(exchange, principal);
    } finally {
      leave();
    }
  };
}

function kindRoutes(
  definition: ResourceDefinition,
  api: OrganizationApi,
  deps: OrganizationDeps,
): RouteSpec[] {
  const { path, scope, dialects } = api;
  const { spools, maxBodyBytes, resourceValues } = deps;
  const handle = createResourceHandler(definition, deps.repository);
  const handler = forOrganization(
    scope,
    deps,
    async (exchange, { organizationId, keyId: holder }) => {
      const terms = { spools, maxBodyBytes, resourceValues, holder };
      const { locate, ...request } = toResourceRequest(api, exchange, terms);
      const dialect = dialects?.of(exchange.request.headers);
      const caller = { organization: organizationId, platform: false, dialect };
      try {
        return { ...(await handle({ ...request, ...caller })) };
      } catch (thrown) {
        throw locate(thrown);
      }
    },
  );
  const methods = Object.fromEntries(METHODS.map((method) => [method, handler]));
  const envelopeOf: RouteSpec['envelopeOf'] =
    dialects && ((headers) => dialects.of(headers).envelope);
  return [path, `${path}/**`].map((at) => ({
    path: at,
    envelope: 'resource',
    ...(envelopeOf && { envelopeOf }),
    methods,
  }));
}
