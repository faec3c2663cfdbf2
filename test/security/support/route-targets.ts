import { operationsOf } from '../../e2e/api/openapi-checker.ts';
import type { Document } from '../../e2e/api/openapi-checker.ts';
import type { TestGateway } from '../../support/gateway.ts';

export interface Target {
  method: string;
  /** With names that nothing has. */
  path: string;
  /** `GET /v1/agents/**`: as it is served, or described. */
  title: string;
}

/** Everything that is served, and everything that a wildcard of it is described to be. */
export function targetsOf({ gateway }: TestGateway, document: Document): Target[] {
  const app = gateway?.app as unknown as { '~routes': { method: string; route: string }[] };
  const served = app['~routes'].map(({ method, route }) => [method, route] as const);
  const described = operationsOf(document).map(({ method, path }) => [method, path] as const);
  const targets = [...served, ...described]
    .filter(([method]) => method !== '')
    .map(([method, route]) => {
      const path = route
        // The first of the words that a parameter may end in.
        .replace(/:\w+\(\.\+:\(\?:(\w+)[^)]*\)\)/, 'none:$1')
        .replace(/(?<!\w):\w+|\*\*|\{\w+\}/g, 'none');
      return { method, path, title: `${method} ${route}` };
    });
  return [...new Map(targets.map((one) => [`${one.method} ${one.path}`, one])).values()];
}
