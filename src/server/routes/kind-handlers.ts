import type { Use } from '../../core/access.ts';
import type { OrganizationApi, ResourceDefinition } from '../../resources/store/define-resource.ts';
import { createResourceHandler } from '../../resources/store/handlers.ts';
import type { Handler, HttpExchange } from '../../surfaces/http-exchange.ts';
import { originOf } from '../../audit/origin-of.ts';
import { segmentsBelow, toResourceRequest } from '../http/resource-exchange.ts';
import { forOrganization, rightsOf } from './organization-routes.ts';
import type { OrganizationDeps } from './organization-routes.ts';

/** Handlers of an organization's own resources, by kind. */
export function kindHandlers(deps: OrganizationDeps): Readonly<Record<string, Handler>> {
  return Object.fromEntries(
    deps.repository.definitions.flatMap((definition) => {
      const { kind, api } = definition;
      return api ? [[kind, kindHandler(definition, api, deps)]] : [];
    }),
  );
}

function kindHandler(
  definition: ResourceDefinition,
  api: OrganizationApi,
  deps: OrganizationDeps,
): Handler {
  const { spools, maxBodyBytes, resourceValues } = deps;
  const handle = createResourceHandler(definition, deps.repository);
  const serve: Parameters<typeof forOrganization>[2] = async (exchange, principal) => {
    const { organizationId, keyId: holder } = principal;
    const terms = { spools, maxBodyBytes, resourceValues, holder };
    const { locate, ...request } = toResourceRequest(api, exchange, terms);
    const dialect = api.dialects?.of(exchange.request.headers);
    const by = originOf(exchange, principal);
    const rights = rightsOf(principal);
    const caller = { organization: organizationId, platform: false, dialect, by, rights };
    try {
      return { ...(await handle({ ...request, ...caller })) };
    } catch (thrown) {
      throw locate(thrown);
    }
  };
  const use = (exchange: HttpExchange): Use => kindUse(definition, api.path, exchange);
  return forOrganization({ scope: api.scope, use }, deps, serve);
}

/** The use that a call of a kind's resources makes of them. */
export function kindUse(
  { uses = {} }: Pick<ResourceDefinition, 'uses'>,
  base: string,
  { request: { method = 'GET' }, path }: HttpExchange,
): Use {
  if (method !== 'GET' && method !== 'HEAD') return uses.change ?? 'write';
  const [, child = ''] = segmentsBelow(base, path);
  return uses.content === child ? 'content' : (uses.read ?? 'read');
}
