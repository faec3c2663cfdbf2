import { Buffer } from 'node:buffer';
import { lazy } from '../../core/lazy.ts';
import type { RouteSpec } from '../http/routes.ts';
import type { ApiPart, OpenApiInput } from './document.ts';

const PATHS: Readonly<Record<ApiPart, string>> = {
  public: '/openapi.json',
  admin: '/admin/openapi.json',
};

/**
 * `GET /openapi.json` and `GET /admin/openapi.json`, for everyone: they contain nothing that the
 * documentation does not.
 */
export function openApiRoutes(input: OpenApiInput): RouteSpec[] {
  return (Object.keys(PATHS) as ApiPart[]).map((part) => toRoute(part, input));
}

function toRoute(part: ApiPart, input: OpenApiInput): RouteSpec {
  // Most gateways are never asked, and none should start later for it.
  const bytes = lazy('the description of the API', async () => {
    const { describeApi } = await import('./document.ts');
    return Buffer.from(JSON.stringify(describeApi(input, part)));
  });
  const headers = { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' };
  return {
    path: PATHS[part],
    envelope: 'flat',
    methods: { GET: async () => ({ status: 200, headers, body: await bytes() }) },
  };
}
