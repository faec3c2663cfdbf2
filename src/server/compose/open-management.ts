import { lazy } from '../../core/lazy.ts';
import type { LinkDeps } from '../console/link-handlers.ts';
import type { RouteSpec } from '../http/routes.ts';
import type { AccountRoutesDeps } from '../routes/account-handlers.ts';
import type { AdminDeps } from '../routes/admin-handlers.ts';
import type { ConfigurationDeps } from '../routes/configuration-handlers.ts';
import { lazyRoutes } from '../routes/lazy-routes.ts';
import {
  ACCOUNT_ROUTES,
  adminKindRoutes,
  CONFIGURATION_ROUTES,
  CONSOLE_ROUTES,
  organizationKindRoutes,
  PRICE_ROUTES,
  REPORT_ROUTES,
  REQUEST_STREAM_ROUTES,
  SSO_ROUTES,
} from '../routes/outlines.ts';
import type { SsoHandlersDeps } from '../sso/sso-handlers.ts';
import type { RequestStreamsDeps } from '../routes/request-streams.ts';
import { ownKeyRoute } from '../routes/own-key-route.ts';

/** The ways to see and change resources and accounts; what serves them is loaded at the first use. */
export function managementRoutes(
  deps: AdminDeps &
    AccountRoutesDeps &
    ConfigurationDeps &
    LinkDeps &
    RequestStreamsDeps &
    SsoHandlersDeps,
): RouteSpec[] {
  const { definitions } = deps.repository;
  const kinds = lazy('the API of resources', async () => {
    const { kindHandlers } = await import('../routes/kind-handlers.ts');
    return kindHandlers(deps);
  });
  const accounts = lazy('the API of accounts', async () => {
    const { accountHandlers } = await import('../routes/account-handlers.ts');
    return accountHandlers(deps);
  });
  const admin = lazy('the admin API', async () => {
    const { adminKindHandlers, reportHandlers } = await import('../routes/admin-handlers.ts');
    return { kinds: adminKindHandlers(deps), reports: reportHandlers(deps) };
  });
  const configuration = lazy('the plans of configuration', async () => {
    const { configurationHandlers } = await import('../routes/configuration-handlers.ts');
    return configurationHandlers(deps);
  });
  const prices = lazy('the list of prices', async () => {
    const { priceHandlers } = await import('../routes/money/price-handlers.ts');
    return priceHandlers(deps);
  });
  const links = lazy('the links to the console', async () => {
    const { linkHandlers } = await import('../console/link-handlers.ts');
    return linkHandlers(deps);
  });
  const streams = lazy('the streams of requests', async () => {
    const { requestStreamHandlers } = await import('../routes/request-streams.ts');
    return requestStreamHandlers(deps);
  });
  const sso = lazy('single sign-on', async () => {
    const { ssoHandlers } = await import('../sso/sso-handlers.ts');
    return ssoHandlers(deps);
  });
  return [
    ...lazyRoutes(organizationKindRoutes(definitions), kinds),
    ...lazyRoutes(ACCOUNT_ROUTES, accounts),
    ownKeyRoute(deps),
    ...lazyRoutes(SSO_ROUTES, sso),
    ...lazyRoutes(adminKindRoutes(definitions), async () => (await admin()).kinds),
    ...lazyRoutes(REPORT_ROUTES, async () => (await admin()).reports),
    ...lazyRoutes(REQUEST_STREAM_ROUTES, streams),
    ...lazyRoutes(CONFIGURATION_ROUTES, configuration),
    ...lazyRoutes(PRICE_ROUTES, prices),
    ...lazyRoutes(CONSOLE_ROUTES, links),
  ];
}
