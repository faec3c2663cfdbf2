import { Buffer } from 'node:buffer';
import { lazy } from '../../core/lazy.ts';
import type { RouteSpec } from '../http/routes.ts';
import type { OpenApiInput } from './document.ts';

/** `GET /openapi.json`, for everyone: it tells nothing that the documentation does not. */
export function openApiRoute(input: OpenApiInput): RouteSpec {
  // Most gateways are never asked, and none should start later for it.
  const bytes = lazy('the description of the API', async () => {
    const { describeApi } = await import('./document.ts');
    return Buffer.from(JSON.stringify(describeApi(input)));
  });
  const headers = { 'content-type': 'application/json', 'cache-control': 'public, max-age=300' };
  return {
    path: '/openapi.json',
    envelope: 'flat',
    methods: { GET: async () => ({ status: 200, headers, body: await bytes() }) },
  };
}
