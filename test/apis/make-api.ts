import { resolveApi } from '../../src/routing/api.ts';
import type { ApiSettings } from '../../src/routing/api.ts';
import type { Api } from '../../src/routing/catalog.ts';

/** An API with a secret, as the catalog has it. */
export function makeApi(settings: Partial<ApiSettings> = {}, rest: Partial<Api> = {}): Api {
  const target = resolveApi(
    {
      name: 'acme',
      base_url: 'https://api.example/base',
      auth: { type: 'bearer' },
      headers: {},
      methods: ['GET', 'POST'],
      paths: ['/**'],
      response_headers: [],
      usage: {},
      ...settings,
    },
    'acme-secret',
  );
  const timeouts = { firstContent: 1000, wholeAnswer: 1000, idle: 1000, total: 5000 };
  return { ...target, pricing: {}, timeouts, ...rest };
}
