import { expect } from 'vitest';
import type { Use } from '../../../src/core/access.ts';
import type { Target } from './route-targets.ts';

/** What each route does; `none`: it asks for no key. */
const ROUTES: readonly (readonly [route: RegExp, use: Use | 'none'])[] = [
  [/^GET \/(healthz|readyz|(admin\/)?openapi\.json)$/, 'none'],
  [/^GET \/v1\/assets\/[^/]+\/content$/, 'none'],
  [/^(GET \/v1\/account\/sso|POST \/v1\/account\/sso\/(device|key))$/, 'none'],
  [/^(GET \/v1\/account\/key|DELETE \/v1\/account\/sso\/key)$/, 'self'],
  [/^POST \/admin\/v1\/console\/links$/, 'self'],
  [/^GET \/v1\/account\/(balance|usage|budgets)$/, 'costs'],
  [/^GET \/admin\/v1\/(usage|spending|budgets|prices)(\/|$)/, 'costs'],
  [/^GET \/v1\/(account\/executions|tasks)(\/|$)/, 'read'],
  [/^GET \/v1(beta)?\/models(\/|$)/, 'read'],
  [/^GET \/v1\/(agents|credentials|skills|webhooks|deployments|deployment_runs)(\/|$)/, 'read'],
  [/^GET \/v1\/(sessions|files|endpoints)(\/[^/]+)?$/, 'read'],
  [/^GET \/admin\/v1\/(?!usage|spending|budgets|prices)(?!files\/[^/]+\/content)/, 'read'],
  [/^GET \/(admin\/)?v1\/files\/[^/]+\/content$/, 'content'],
  [/^GET \/v1\/sessions\/[^/]+\/events/, 'content'],
  [/^GET \/v1\/(run|videos|contents|assets\/[^/]+$)/, 'content'],
  [/^GET \/v1(beta)?\/(interactions|responses)\//, 'content'],
  [/^GET \/v1\/(api\/|endpoints\/[^/]+\/mcp$)/, 'call'],
  [/^POST \/v1(beta)?\/(models\/|interactions|[^/]+\/[^/]+:)/, 'call'],
  [/^POST \/v1\/(chat|responses|embeddings|images|messages|videos|contents|api|run)(\/|$)/, 'call'],
  [/^(POST|DELETE) \/v1\/endpoints\/[^/]+\/(run|mcp|acp)$/, 'call'],
  [/^POST \/v1\/deployments\/[^/]+\/(run|runs|notifications\/chat\/test)$/, 'call'],
  [/^POST \/v1\/sessions\/[^/]+\/events$/, 'call'],
  [/^POST \/v1\/webhooks\/deliveries\//, 'call'],
  [/^(?!GET)\w+ \/v1\/(agents|credentials|skills|files)(\/|$)/, 'write'],
  [/^(?!GET)\w+ \/v1\/(sessions|endpoints)(\/[^/]+(\/archive)?)?$/, 'write'],
  [/^(?!GET)\w+ \/v1\/deployments(\/[^/]+(\/(archive|pause|unpause))?)?$/, 'write'],
  [/^POST \/v1\/(assets|webhooks\/secret\/rotate)$/, 'write'],
  [/^DELETE \/v1\/(videos|contents\/generations\/tasks|responses)(\/|$)/, 'write'],
  [
    /^(?!GET)\w+ \/admin\/v1\/(keys|organizations|budgets|inventories|configuration|prices)(\/|$)/,
    'govern',
  ],
  [
    /^(?!GET)\w+ \/admin\/v1\/(?!keys|organizations|budgets|inventories|configuration|prices|console)/,
    'write',
  ],
];

/** The use of a route, whatever stands for its parameters. */
export function useOf({ method, path }: Pick<Target, 'method' | 'path'>): Use | 'none' {
  const asked = `${method.replace('HEAD', 'GET')} ${path.split('?')[0]}`;
  const found = ROUTES.filter(([route]) => route.test(asked));
  // A new route fails here until it is said what it does.
  expect(found.length, asked).toBe(1);
  return found[0]?.[1] ?? 'none';
}
