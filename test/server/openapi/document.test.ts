import { describe, expect, it } from 'vitest';
import { organization } from '../../../src/resources/kinds/organization.ts';
import type { ResourceDefinition } from '../../../src/resources/store/define-resource.ts';
import type { Envelope } from '../../../src/protocols/family.ts';
import type { Method, RouteSpec } from '../../../src/server/http/routes.ts';
import { describeApi, INTERFACE_VERSION } from '../../../src/server/openapi/document.ts';
import type { ApiPart, OpenApiInput } from '../../../src/server/openapi/document.ts';
import { errorName, schemaRef } from '../../../src/server/openapi/schemas.ts';

const route = (
  path: string,
  methods: readonly Method[],
  envelope: Envelope = 'flat',
): RouteSpec => ({
  path,
  envelope,
  methods: Object.fromEntries(methods.map((method) => [method, async () => ({ status: 200 })])),
});

const THING: ResourceDefinition = {
  ...organization,
  kind: 'thing',
  path: '/admin/v1/things',
  api: { path: '/v1/things', scope: 'agents', hidden: [] },
};

const OWN: Envelope = { name: 'wire', schema: { type: 'array' }, render: () => ({}) };

interface Components {
  readonly schemas: Readonly<Record<string, unknown>>;
  readonly responses: Readonly<Record<string, { content: Record<string, { schema: unknown }> }>>;
}

function describing(input: Partial<OpenApiInput>, part?: ApiPart) {
  const document = describeApi({ routes: [], definitions: [], ...input }, part);
  const components = document['components'] as Components;
  const keys = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const operation = (key: string) => {
    const [method = '', path = ''] = key.split(' ');
    return document.paths[path]?.[method.toLowerCase()];
  };
  return { document, components, keys, operation };
}

/** The description of one operation whose route is served alone. */
function operationOf(method: Method, path: string, envelope?: Envelope) {
  const { operation, keys } = describing({ routes: [route(path, [method], envelope)] });
  return operation(keys[0] ?? '');
}

const json = (schema: unknown) => ({ 'application/json': { schema } });
const inPath = (name: string) => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
});

describe('the document', () => {
  it('tells of the interface and where it is', () => {
    expect(describing({}).document).toMatchObject({
      openapi: '3.1.0',
      info: { version: INTERFACE_VERSION },
      servers: [{ url: '/' }],
      security: [{ bearer: [] }],
      paths: {},
    });
    const publicUrl = 'https://gateway.test';
    expect(describing({ publicUrl }).document).toMatchObject({ servers: [{ url: publicUrl }] });
  });

  it('has the routes of its part alone', () => {
    const paths = ['/v1/a', '/v1beta/b', '/admin/v1/c', '/healthz', '/v1', '/v12/d', '/admin/x'];
    const routes = paths.map((path) => route(path, ['GET']));
    expect(describing({ routes }).keys).toEqual(['GET /v1/a', 'GET /v1beta/b']);
    expect(describing({ routes }, 'admin').keys).toEqual(['GET /admin/v1/c']);
  });

  it('sorts paths, and keeps the methods of each together', () => {
    const routes = [
      route('/v1/b', ['GET']),
      route('/v1/a/:id', ['DELETE', 'GET']),
      route('/v1/a', ['GET']),
      route('/v1/b', ['POST']),
    ];
    expect(describing({ routes }).keys).toEqual([
      'GET /v1/a',
      'DELETE /v1/a/{id}',
      'GET /v1/a/{id}',
      'GET /v1/b',
      'POST /v1/b',
    ]);
  });

  it('writes places of paths as templates', () => {
    const routes = ['/v1/a/:id/b/:run_id', '/v1/c/**'].map((path) => route(path, ['GET']));
    const { keys, operation } = describing({ routes });
    expect(keys).toEqual(['GET /v1/a/{id}/b/{run_id}', 'GET /v1/c/{id}']);
    expect(operation('GET /v1/a/{id}/b/{run_id}')?.['parameters']).toEqual([
      inPath('id'),
      inPath('run_id'),
    ]);
  });

  it('lists what a wildcard stands for', () => {
    const routes = [route('/v1/videos/**', ['GET', 'DELETE']), route('/v1/models/**', ['POST'])];
    expect(describing({ routes }).keys).toEqual([
      'POST /v1/models/{model}:countTokens',
      'POST /v1/models/{model}:generateContent',
      'POST /v1/models/{model}:streamGenerateContent',
      'GET /v1/videos/{id}',
      'DELETE /v1/videos/{id}',
      'GET /v1/videos/{id}/content',
    ]);
  });

  it('describes kinds by their declaration and not by their routes', () => {
    const routes = ['/v1/things', '/v1/things/**', '/v1/things/:id/extra'].map((path) =>
      route(path, ['PUT']),
    );
    const { keys, components } = describing({ routes, definitions: [THING, organization] });
    expect(keys).toContain('POST /v1/things');
    expect(keys.filter((key) => key.startsWith('PUT'))).toEqual(['PUT /v1/things/{id}/extra']);
    expect(keys.join()).not.toContain('organizations');
    expect(Object.keys(components.schemas)).toEqual(
      expect.arrayContaining(['Thing', 'ThingCreate', 'ThingUpdate', 'ChatRequest']),
    );
    expect(components.schemas).not.toHaveProperty('Organization');
  });

  it('of the administration has every kind at its own path', () => {
    const { keys, components } = describing({ definitions: [THING, organization] }, 'admin');
    expect(keys).toContain('PATCH /admin/v1/things/{id}');
    expect(keys).toContain('PATCH /admin/v1/organizations/{id}');
    expect(keys.join()).not.toContain(' /v1/');
    expect(components.schemas).toHaveProperty('Organization');
  });

  it('takes forms where the kind does, in both parts', () => {
    const api = { path: '/v1/things', scope: 'agents', hidden: [] } as const;
    const forms: ResourceDefinition = { ...THING, api: { ...api, fromForm: () => ({}) } };
    for (const [part, path] of [
      ['public', '/v1/things'],
      ['admin', '/admin/v1/things'],
    ] as const) {
      const taken = describing({ definitions: [forms] }, part).operation(`POST ${path}`);
      expect(taken?.['requestBody']).toMatchObject({
        content: { 'application/json': {}, 'multipart/form-data': {} },
      });
    }
  });
});

describe('an operation', () => {
  it('is named by its method and path, and by its topic', () => {
    expect(operationOf('POST', '/v1/deployments/:id/runs')).toMatchObject({
      operationId: 'post_v1_deployments_id_runs',
      summary: 'Run a Schedule now',
      tags: ['deployments'],
    });
    expect(operationOf('GET', '/v1/a-b/:id')).toMatchObject({ operationId: 'get_v1_a_b_id' });
    const routes = [route('/admin/v1/status', ['GET'])];
    expect(describing({ routes }, 'admin').operation('GET /admin/v1/status')).toMatchObject({
      tags: ['status'],
      summary: 'Read how the gateway is',
    });
  });

  it('that nobody described is listed all the same', () => {
    expect(operationOf('POST', '/v1/new/:id')).toEqual({
      operationId: 'post_v1_new_id',
      summary: 'POST /v1/new/{id}',
      tags: ['new'],
      parameters: [
        inPath('id'),
        { name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string' } },
      ],
      requestBody: { required: false, content: json({}) },
      responses: {
        200: { description: 'Success' },
        default: { $ref: '#/components/responses/FlatError' },
      },
    });
    expect(operationOf('GET', '/v1/new')).toEqual({
      operationId: 'get_v1_new',
      summary: 'GET /v1/new',
      tags: ['new'],
      responses: {
        200: { description: 'Success' },
        default: { $ref: '#/components/responses/FlatError' },
      },
    });
  });

  it('takes a body unless it reads or deletes', () => {
    for (const method of ['POST', 'PUT', 'PATCH'] as const)
      expect(operationOf(method, '/v1/new'), method).toHaveProperty('requestBody');
    for (const method of ['GET', 'DELETE'] as const)
      expect(operationOf(method, '/v1/new'), method).not.toHaveProperty('requestBody');
  });

  it('says whether its body is needed', () => {
    expect(operationOf('POST', '/v1/run')?.['requestBody']).toEqual({
      required: true,
      content: json(schemaRef('RunRequest')),
    });
    expect(operationOf('POST', '/v1/webhooks/secret/rotate')?.['requestBody']).toMatchObject({
      required: false,
    });
  });

  it.each([
    ['POST', '/v1/images/generations', ['application/json']],
    ['POST', '/v1/images/edits', ['multipart/form-data']],
    ['POST', '/v1/videos', ['application/json', 'multipart/form-data']],
  ] as const)('says which types it takes: %s %s', (method, path, types) => {
    const body = operationOf(method, path)?.['requestBody'] as { content: object };
    expect(Object.keys(body.content)).toEqual(types);
  });

  it('tells of each status that it may succeed with', () => {
    const statuses = (method: Method, path: string) =>
      Object.keys(operationOf(method, path)?.responses ?? {});
    expect(statuses('POST', '/v1/run')).toEqual(['200', '202', 'default']);
    expect(statuses('POST', '/v1/assets')).toEqual(['201', 'default']);
    expect(statuses('GET', '/v1/account/key')).toEqual(['200', 'default']);
  });

  it('tells of its answer in every type', () => {
    expect(operationOf('POST', '/v1/chat/completions')?.responses['200']).toEqual({
      description: 'Success',
      content: { ...json(schemaRef('ChatCompletion')), 'text/event-stream': {} },
    });
    expect(operationOf('GET', '/v1/sessions/:id/events/stream')?.responses['200']).toEqual({
      description: 'Success',
      content: { 'text/event-stream': {} },
    });
    expect(operationOf('DELETE', '/v1/account/sso/key')?.responses['204']).toEqual({
      description: 'Success',
    });
  });

  it('has parameters of the path, then of the query, then its name, which POST alone has', () => {
    const names = (method: Method, path: string) =>
      (
        operationOf(method, path)?.['parameters'] as { in: string; name: string }[] | undefined
      )?.map((one) => `${one.in} ${one.name}`);
    expect(names('GET', '/v1/sessions/:id/events')).toEqual([
      'path id',
      'query limit',
      'query page',
      'query order',
    ]);
    expect(names('POST', '/v1/sessions/:id')).toEqual(['path id', 'header Idempotency-Key']);
    expect(names('PATCH', '/v1/sessions/:id')).toEqual(['path id']);
    expect(names('PATCH', '/v1/new')).toBeUndefined();
  });

  it('says where keys are looked for unless it is the header of everyone', () => {
    expect(operationOf('POST', '/v1/messages', 'messages')?.['security']).toEqual([
      { apiKeyHeader: [] },
      { bearer: [] },
    ]);
    expect(operationOf('POST', '/v1beta/interactions', 'google')?.['security']).toHaveLength(3);
    for (const envelope of ['flat', 'chat', 'resource', OWN] as const)
      expect(operationOf('POST', '/v1/new', envelope)).not.toHaveProperty('security');
  });

  it.each<[Envelope, string]>([
    ['flat', 'FlatError'],
    ['resource', 'ResourceError'],
    ['google', 'GoogleError'],
    [OWN, 'WireError'],
  ])('fails in the shape of its route: %o', (envelope, name) => {
    expect(operationOf('GET', '/v1/new', envelope)?.responses['default']).toEqual({
      $ref: `#/components/responses/${name}`,
    });
  });

  it('fails as JSON-RPC does where that is spoken', () => {
    expect(operationOf('POST', '/v1/endpoints/:id/mcp', 'resource')?.responses['default']).toEqual({
      $ref: '#/components/responses/JsonRpcError',
    });
  });
});

describe('failures', () => {
  const { components } = describing({ routes: [route('/v1/new', ['GET'], OWN)] });
  const schemaOf = (name: string) =>
    components.responses[name]?.content['application/json']?.schema;

  it('have a schema for each shape, those of protocols included', () => {
    expect(components.schemas[errorName(OWN)]).toBe(OWN.schema);
    const names = ['Flat', 'Resource', 'Chat', 'Messages', 'Google', 'Wire', 'JsonRpc'];
    expect(Object.keys(components.responses)).toEqual(names.map((name) => `${name}Error`));
    expect(describing({}).components.schemas).not.toHaveProperty('WireError');
  });

  it('may be flat everywhere, since the shared checks are', () => {
    expect(schemaOf('FlatError')).toEqual(schemaRef('FlatError'));
    for (const name of ['ResourceError', 'ChatError', 'WireError'])
      expect(schemaOf(name)).toEqual({ anyOf: [schemaRef(name), schemaRef('FlatError')] });
    expect(schemaOf('JsonRpcError')).toEqual({
      anyOf: ['JsonRpcFailure', 'ResourceError', 'FlatError'].map(schemaRef),
    });
  });
});
