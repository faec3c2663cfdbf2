import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { expect, it, vi } from 'vitest';
import type { Role } from '../../../src/core/access.ts';
import { createIdSource } from '../../../src/core/ids.ts';
import { createSpools } from '../../../src/core/memory/spool.ts';
import { createHealth } from '../../../src/routing/health.ts';
import { adminKindHandlers } from '../../../src/server/routes/admin-handlers.ts';
import type { Method } from '../../../src/server/http/routes.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import { bodySource } from '../../support/body-intake.ts';
import { makeResources } from '../../resources/make-resources.ts';
import { fakeCatalog, fakeModel, fakeRoute } from '../../support/catalog.ts';
import { verifies } from '../../requirements.ts';
import { RESOURCE_VALUES } from '../../support/value-bounds.ts';

const ADMIN: Principal = {
  keyId: 'key_1',
  keyName: 'admin',
  organizationId: 'org_1',
  organizationEnabled: true,
  scopes: new Set(['admin']),
  keySpend: null,
  organizationSpend: null,
  rpmCap: null,
  concurrencyCap: null,
  allowedModels: null,
};

const PRICED = fakeRoute('a', { priority: 0, pricing: { output: 15_000 } });
const OF_PROVIDERS = { kind: 'provider', collection: 'providers' };

function setUp(catchUp: () => Promise<void>, role: Role | null = null, of = OF_PROVIDERS) {
  const { repository, store, clock } = makeResources();
  const handlers = adminKindHandlers({
    repository,
    store,
    clock,
    catchUp,
    active: { begun: 0 },
    lookup: () => ({ ...ADMIN, role }),
    rates: { isPlatformFull: () => false, admitPlatform: () => true, admitKey: () => true },
    concurrency: { enter: () => () => undefined },
    spools: createSpools('unused', createIdSource(clock)),
    maxBodyBytes: 10_000,
    resourceValues: RESOURCE_VALUES,
    catalog: () => fakeCatalog(fakeModel('acme/ha', [PRICED])),
    health: createHealth({ clock }),
    protocols: [],
    config: { dataDir: 'unused', limits: { outputTokensBound: 1_000 } },
  });
  return async (method: Method, body: object = {}, below = '') => {
    const path = `/admin/v1/${of.collection}${below}`;
    const bytes = Buffer.from(JSON.stringify(body));
    const request = Object.assign(Readable.from([bytes]), {
      method,
      headers: { authorization: 'Bearer sk-1', 'content-length': String(bytes.length) },
      complete: true,
      socket: { remoteAddress: '127.0.0.1' },
    }) as unknown as IncomingMessage;
    const handler = handlers[of.kind];
    const response = {} as ServerResponse;
    return handler?.({
      id: 'req_1',
      at: 0,
      startedAt: 0,
      response,
      ...bodySource(request, response),
      path,
      search: '',
    });
  };
}

it('answers a change once it is served, and a question at once', async () => {
  let serve = (): void => undefined;
  let asked = 0;
  const send = setUp(() => {
    asked += 1;
    return new Promise((resolve) => (serve = resolve));
  });
  expect(await send('GET')).toMatchObject({ status: 200 });
  expect(asked).toBe(0);
  let answer: unknown;
  const change = send('POST', { name: 'p', type: 'mock' }).then((reply) => (answer = reply));
  await vi.waitFor(() => expect(asked).toBe(1));
  expect(answer).toBeUndefined();
  serve();
  await change;
  expect(answer).toMatchObject({ status: 201 });
});

it('answers a change that is written although it cannot be served yet', async () => {
  const send = setUp(() => Promise.reject(new Error('the store is away')));
  expect(await send('POST', { name: 'p', type: 'mock' })).toMatchObject({ status: 201 });
});

it.each([null, 'admin', 'operator'] as const)(
  'has a kept key sent elsewhere for who governs keys, here the role %s',
  async (role) => {
    const send = setUp(async () => undefined, role);
    await send('POST', { name: 'p', type: 'openai', api_key: 'secret' });
    const moved = send('PATCH', { base_url: 'https://elsewhere.example/v1' }, '/p');
    if (role !== 'operator') expect(await moved).toMatchObject({ status: 200 });
    else await expect(moved).rejects.toMatchObject({ status: 400, param: 'api_key' });
  },
);

it(
  verifies('limits.too-small', 'warns in the answer where a limit cannot pay for one call'),
  async () => {
    const of = { kind: 'organization', collection: 'organizations' };
    const send = setUp(async () => undefined, null, of);
    const warnings = [expect.stringMatching(/^spending_limit\.day: 0\.01 USD cannot pay for one /)];
    const poor = { spending_limit: { day: '0.01' } };
    expect(await send('POST', { name: 'poor', ...poor })).toMatchObject({ body: { warnings } });
    expect(await send('POST', { name: 'rich' })).not.toHaveProperty('body.warnings');
    expect(await send('PATCH', poor, '/rich')).toMatchObject({ body: { warnings } });
    expect(await send('GET', {}, '/rich')).not.toHaveProperty('body.warnings');
  },
);
