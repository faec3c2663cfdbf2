import { describe, expect, it } from 'vitest';
import { CHILDREN, OPERATIONS, PAGING, WILDCARDS } from '../../../src/server/openapi/operations.ts';
import { schemaRef, SCHEMAS } from '../../../src/server/openapi/schemas.ts';
import {
  ACCOUNT_ROUTES,
  DEPLOYMENT_ROUTES,
  REQUEST_STREAM_ROUTES,
  RUN_ROUTES,
  SERVICE_ROUTES,
  SESSION_ROUTES,
  SSO_ROUTES,
  WEBHOOK_ROUTES,
} from '../../../src/server/routes/outlines.ts';

const ALL = Object.entries(OPERATIONS);
const OUTLINES = [
  ...ACCOUNT_ROUTES,
  ...DEPLOYMENT_ROUTES,
  ...REQUEST_STREAM_ROUTES,
  ...RUN_ROUTES,
  ...SERVICE_ROUTES,
  ...SESSION_ROUTES,
  ...SSO_ROUTES,
  ...WEBHOOK_ROUTES,
].filter(({ path }) => path.startsWith('/v1/'));
const SERVED = OUTLINES.flatMap(({ path, methods }) =>
  Object.keys(methods).map((method) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`),
);

describe('the descriptions of operations', () => {
  it('are there for every route whose handlers are loaded later', () => {
    expect(SERVED.filter((key) => !(key in OPERATIONS))).toEqual([]);
  });

  it('are of nothing else below the same paths', () => {
    const bases = ['account', 'sessions', 'webhooks', 'deployment_runs', 'run', 'tasks'];
    const below = new RegExp(`^\\w+ /v1/(${bases.join('|')})(/|$)`);
    const own = ALL.map(([key]) => key).filter((key) => below.test(key));
    expect(own.filter((key) => !SERVED.includes(key))).toEqual(['GET /v1/account/key']);
  });

  it('name a summary and schemas that there are', () => {
    for (const [key, doc] of ALL) {
      expect(doc.summary, key).toMatch(/^[A-Z]/);
      const refs = [...JSON.stringify(doc).matchAll(/"#\/components\/schemas\/(\w+)"/g)];
      for (const [, name = ''] of refs) expect(SCHEMAS, key).toHaveProperty(name);
    }
  });

  it('say what comes back', () => {
    for (const [key, { answer, also = [], status }] of ALL) {
      const isEmpty = status === 204 || key.startsWith('HEAD ');
      expect(answer !== undefined || also.length > 0, key).toBe(!isEmpty);
    }
  });

  it('take paging where they answer a page', () => {
    const pages = ALL.filter(([, { answer }]) =>
      JSON.stringify(answer ?? '').includes('next_page'),
    );
    expect(pages.length).toBeGreaterThan(5);
    for (const [key, { query = [] }] of pages)
      if (key !== 'GET /v1/account/usage')
        expect(query, key).toEqual(expect.arrayContaining([...PAGING]));
  });

  it('give reading no body, and sending one', () => {
    for (const [key, { body }] of ALL) {
      const method = key.split(' ')[0];
      if (method === 'GET' || method === 'HEAD' || method === 'DELETE')
        expect(body, key).toBeUndefined();
      else if (!key.endsWith('/archive')) expect(body, key).toBeDefined();
    }
  });

  it('demand no body of what takes no input', () => {
    const empty = ALL.filter(([, { body }]) => body?.['$ref'] === schemaRef('EmptyBody')['$ref']);
    expect(empty.length).toBeGreaterThan(3);
    for (const [key, { bodyOptional }] of empty) expect(bodyOptional, key).toBe(true);
  });

  it('of JSON-RPC are those of Services', () => {
    const rpc = ALL.filter(([, { rpc }]) => rpc).map(([key]) => key);
    expect(rpc.sort()).toEqual([
      'DELETE /v1/endpoints/{id}/mcp',
      'GET /v1/endpoints/{id}/mcp',
      'POST /v1/endpoints/{id}/acp',
      'POST /v1/endpoints/{id}/mcp',
    ]);
  });
});

describe('wildcards', () => {
  it('stand for operations that are described', () => {
    for (const [key, paths] of Object.entries(WILDCARDS)) {
      const [method, route = ''] = key.split(' ');
      for (const path of paths) {
        expect(OPERATIONS, `${method} ${path}`).toHaveProperty([`${method} ${path}`]);
        const base = route.replace(/\*\*$/, '').replace(/:(\w+)/g, '{$1}');
        expect(path.startsWith(base)).toBe(true);
      }
    }
  });

  it('of models are the methods of both versions', () => {
    for (const version of ['v1', 'v1beta'])
      expect(WILDCARDS[`POST /${version}/models/**`]).toEqual(
        ['generateContent', 'streamGenerateContent', 'countTokens'].map(
          (method) => `/${version}/models/{model}:${method}`,
        ),
      );
  });
});

describe('operations below resources', () => {
  it('are named by their method and where they are', () => {
    for (const [name, operations] of Object.entries(CHILDREN)) {
      expect(name).toMatch(/^\w+ \w+$/);
      for (const key of Object.keys(operations))
        expect(key).toMatch(/^(GET|POST|DELETE) (\/\S+)?$/);
    }
  });
});
