import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { createChecker, operationsOf } from './openapi-checker.ts';
import type { Document } from './openapi-checker.ts';
import { createAjv } from '../../support/schemas/create-ajv.ts';

describe('the OpenAPI document of administration', () => {
  let gateway: TestGateway;
  let document: Document;
  beforeAll(async () => {
    gateway = await startGateway({
      providers: [{ name: 'mock', type: 'mock' }],
      models: [{ name: 'acme/fast', routes: [{ provider: 'mock' }] }],
    });
    document = (await gateway.call('GET', '/admin/openapi.json', { key: '' })).body;
  });
  afterAll(() => gateway.stop());

  it('is OpenAPI 3.1 of what is below /admin, and sound', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } });
    for (const path of Object.keys(document.paths)) expect(path).toMatch(/^\/admin\/v1\//);
    for (const [, reference = ''] of JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)) {
      const steps = reference.replace(/^#\//, '').split('/');
      const found = steps.reduce<any>((at, step) => at?.[step], document);
      expect(found, reference).toBeTypeOf('object');
    }
    const ids = operationsOf(document).map(({ operation }) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    const ajv = createAjv({ validateFormats: false });
    ajv.addSchema({ $id: 'api', ...document });
    for (const name of Object.keys(document.components.schemas))
      expect(() => ajv.compile({ $ref: `api#/components/schemas/${name}` }), name).not.toThrow();
  });

  it('lists every route that is served there, and nothing else', () => {
    const app = gateway.gateway?.app as unknown as {
      '~routes': { method: string; route: string }[];
    };
    const served = app['~routes'].filter(
      ({ method, route }) => method !== '' && method !== 'HEAD' && route.startsWith('/admin/v1'),
    );
    const toPattern = (route: string): RegExp =>
      new RegExp(`^${route.replace(/:\w+/g, '[^/]+').replace(/\/\*\*$/, '/.+')}$`);
    const listed = operationsOf(document);
    for (const { method, path } of listed) {
      const found = served.some((one) => one.method === method && toPattern(one.route).test(path));
      expect(found, `${method} ${path}`).toBe(true);
    }
    const routes = served.filter(({ route }) => !served.some((one) => one.route === `${route}/**`));
    for (const { method, route } of routes.filter(({ route: one }) => !one.endsWith('/**'))) {
      const found = listed.some((one) => one.method === method && toPattern(route).test(one.path));
      expect(found, `${method} ${route}`).toBe(true);
    }
    const described = listed.filter(({ method, path, operation }) =>
      JSON.stringify(operation).includes(`"summary":"${method} ${path}"`),
    );
    expect(described.map(({ path }) => path)).toEqual([]);
  });

  it('says what the server answers', async () => {
    const checker = createChecker(document);
    await gateway.chat('acme/fast');
    const requests = await gateway.admin('GET', '/admin/v1/requests');
    const audit = await gateway.admin('GET', '/admin/v1/audit');
    const [{ id: request }, { id: entry }] = [requests.body.data[0], audit.body.data[0]];
    const paths = ['usage', 'usage?group_by=model', 'routing?model=acme/fast', 'status', 'requests']
      .concat([
        `requests/${request}`,
        'spending/budgets',
        'audit',
        `audit/${entry}`,
        'audit/verify',
      ])
      .concat(['keys', 'organizations', 'providers', 'models', 'agents', 'models?limit=x'])
      .map((path) => `/admin/v1/${path}`);
    for (const path of paths) checker.check('GET', path, await gateway.admin('GET', path));
    const key = { name: 'made' };
    const made = await gateway.admin('POST', '/admin/v1/keys', key);
    checker.check('POST', '/admin/v1/keys', made);
    const files = [{ name: 'gateway.yaml', text: '{version: 1}' }];
    const plan = '/admin/v1/configuration/plan';
    checker.check('POST', plan, await gateway.admin('POST', plan, { files }));
  });
});
