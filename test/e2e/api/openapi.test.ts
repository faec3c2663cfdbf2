import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';
import { CONTRACT_PATHS } from './openapi-contract-paths.ts';
import { generateClient } from './openapi-generated-client.ts';
import { createChecker, neededBy, operationsOf } from './openapi-checker.ts';
import type { Checker, Document } from './openapi-checker.ts';
import { createAjv } from '../../support/schemas/create-ajv.ts';

/** One line for each operation, with what its body needs, that a release of 1.x has promised. */
const PROMISED = './openapi-promised.txt';

describe('the OpenAPI document', () => {
  let gateway: TestGateway;
  let document: Document;
  let checker: Checker;
  beforeAll(async () => {
    gateway = await startGateway({
      providers: [{ name: 'mock', type: 'mock' }],
      models: [
        { name: 'acme/fast', routes: [{ provider: 'mock' }] },
        { name: 'acme/vectors', type: 'embedding', routes: [{ provider: 'mock' }] },
        { name: 'acme/pictures', type: 'image', routes: [{ provider: 'mock' }] },
      ],
    });
    document = (await gateway.call('GET', '/openapi.json', { key: '' })).body;
    checker = createChecker(document);
  });
  afterAll(() => gateway.stop());

  it(
    verifies(
      'versioning.openapi-served',
      'versioning.interface-version',
      'is OpenAPI 3.1 of the interface 1.0.0, for everyone',
    ),
    async () => {
      const answer = await gateway.call('GET', '/openapi.json', { key: '' });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('application/json');
      expect(answer.body).toMatchObject({ openapi: '3.1.0', info: { version: '1.0.0' } });
      for (const path of Object.keys(document.paths)) expect(path).toMatch(/^\/v1(beta)?\//);
    },
  );

  it(
    verifies('versioning.openapi-served', 'is sound: references, parameters, names and schemas'),
    () => {
      const text = JSON.stringify(document);
      for (const [, reference = ''] of text.matchAll(/"\$ref":"([^"]+)"/g)) {
        const steps = reference.replace(/^#\//, '').split('/');
        const found = steps.reduce<any>((at, step) => at?.[step], document);
        expect(found, reference).toBeTypeOf('object');
      }
      const operations = operationsOf(document);
      const ids = operations.map(({ operation }) => operation.operationId);
      expect(new Set(ids).size).toBe(ids.length);
      for (const { path, operation } of operations) {
        const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
        const declared = (operation.parameters ?? []).filter((one) => one.in === 'path');
        expect(declared.map(({ name }) => name)).toEqual(inPath);
        const names = (operation.parameters ?? []).map((one) => `${one.in} ${one.name}`);
        expect(new Set(names).size).toBe(names.length);
        expect(operation.responses['default']).toBeDefined();
        for (const status of Object.keys(operation.responses))
          expect(status).toMatch(/^(2\d\d|default)$/);
      }
      const ajv = createAjv({ validateFormats: false });
      ajv.addSchema({ $id: 'api', ...document });
      for (const name of Object.keys(document.components.schemas))
        expect(() => ajv.compile({ $ref: `api#/components/schemas/${name}` }), name).not.toThrow();
    },
  );

  it(
    verifies('versioning.openapi-served', 'lists every route that is served, and nothing else'),
    () => {
      const documented = new Set(
        operationsOf(document).map(({ method, path }) => `${method} ${path}`),
      );
      const app = gateway.gateway?.app as unknown as {
        '~routes': { method: string; route: string }[];
      };
      const served = app['~routes'].filter(
        // What matches by a pattern is another spelling of a path that is here.
        ({ method, route }) => method !== '' && /^\/v1[^(]*$/.test(route),
      );
      const matches = (route: string, path: string): boolean => {
        const pattern = route.replace(/:\w+/g, '[^/]+').replace(/\/\*\*$/, '/.+');
        return new RegExp(`^${pattern}$`).test(path);
      };
      const kinds = ['agents', 'credentials', 'deployments', 'endpoints', 'files', 'skills'];
      for (const { method, route } of served) {
        // Clients know that it is answered as GET is; only one of its own meaning is told.
        if (method === 'HEAD' && served.some((one) => one.route === route && one.method === 'GET'))
          continue;
        // Every method of a resource has a handler of its own to refuse what is not there.
        const isKind = kinds.some((kind) => [`/v1/${kind}`, `/v1/${kind}/**`].includes(route));
        const found = [...documented].some(
          (key) => key.startsWith(`${method} `) && matches(route, key.split(' ')[1] ?? ''),
        );
        if (!isKind) expect(found, `${method} ${route}`).toBe(true);
      }
      for (const key of documented) {
        const [method, path = ''] = key.split(' ');
        const found = served.some((one) => one.method === method && matches(one.route, path));
        expect(found, key).toBe(true);
      }
    },
  );

  it.each(CONTRACT_PATHS)(
    verifies(
      'versioning.openapi-served',
      'versioning.compat-service-paths',
      'serves %s %s of the contract',
    ),
    async (method, path) => {
      const documented = Object.keys(document.paths).map((one) => one.replace(/\{\w+\}/g, '{}'));
      expect(documented).toContain(path.replace(/\{\w+\}/g, '{}'));
      const url = path.replace(/\{(model|vendor)\}/g, 'acme').replace(/\{\w+\}/g, 'none');
      const answer = await gateway.call(method, url, method === 'GET' ? {} : { body: {} });
      expect(answer.status).not.toBe(405);
      expect(JSON.stringify(answer.body)).not.toContain('no such path');
    },
  );

  it(
    verifies('versioning.openapi-served', 'says what the server answers: models and inference'),
    async () => {
      const user = { role: 'user', content: 'hello' };
      const calls: [method: string, path: string, body?: object][] = [
        ['GET', '/v1/models'],
        ['GET', '/v1/models/acme/fast'],
        ['GET', '/v1beta/models'],
        ['POST', '/v1/chat/completions', { model: 'acme/fast', messages: [user] }],
        ['POST', '/v1/responses', { model: 'acme/fast', input: 'hello' }],
        ['POST', '/v1/embeddings', { model: 'acme/vectors', input: 'hello' }],
        ['POST', '/v1/images/generations', { model: 'acme/pictures', prompt: 'x' }],
        ['POST', '/v1/messages', { model: 'acme/fast', max_tokens: 9, messages: [user] }],
        ['POST', '/v1/messages/count_tokens', { model: 'acme/fast', messages: [user] }],
        ['POST', '/v1beta/models/fast:generateContent', { contents: [{ parts: [{ text: 'x' }] }] }],
        ['POST', '/v1/run', { model: 'acme/fast', input: { messages: [user] } }],
        ['POST', '/v1/webhooks/secret/rotate'],
        ['GET', '/v1/webhooks/deliveries'],
        ['GET', '/v1/account/key'],
        ['GET', '/v1/account/balance'],
        ['GET', '/v1/account/executions'],
        ['GET', '/v1/account/usage?group_by=model'],
      ];
      for (const [method, path, body] of calls) {
        const answer = await gateway.call(method, path, body ? { body } : {});
        expect(answer.status, `${method} ${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
        checker.check(method, path, answer);
      }
    },
  );

  it(verifies('versioning.openapi-served', 'says what the server answers: resources'), async () => {
    const checked = async (method: string, path: string, body?: unknown): Promise<any> => {
      const answer: Answer = await gateway.call(method, path, body === undefined ? {} : { body });
      expect(answer.status, `${method} ${path} ${JSON.stringify(answer.body)}`).toBeLessThan(300);
      checker.check(method, path, answer);
      return answer.body;
    };
    const agent = await checked('POST', '/v1/agents', { name: 'Helper', model: 'acme/fast' });
    await checked('GET', '/v1/agents');
    await checked('PATCH', `/v1/agents/${agent.id}`, { version: agent.version, name: 'Other' });
    await checked('GET', `/v1/agents/${agent.id}/versions`);
    const service = await checked('POST', '/v1/endpoints', {
      name: 'Desk',
      agent_id: agent.id,
      protocols: ['rest'],
    });
    await checked('GET', `/v1/endpoints/${service.id}`);
    const run = await checked('POST', `/v1/endpoints/${service.id}/run`, { input: 'hello' });
    await checked('GET', `/v1/sessions/${run.session_id}`);
    await checked('GET', `/v1/sessions/${run.session_id}/events?order=asc`);
    const session = await checked('POST', '/v1/sessions', { agent: agent.id });
    await checked('GET', '/v1/sessions');
    await checked('DELETE', `/v1/sessions/${session.id}`);
    const deployment = await checked('POST', '/v1/deployments', {
      name: 'Daily',
      agent_id: agent.id,
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'go' }] }],
    });
    await checked('GET', '/v1/deployments');
    await checked('POST', `/v1/deployments/${deployment.id}/pause`);
    const triggered = await checked('POST', `/v1/deployments/${deployment.id}/runs`, {});
    await checked('GET', `/v1/deployment_runs/${triggered.id}`);
    await checked('GET', '/v1/deployment_runs?trigger_type=manual');
    const credential = await checked('POST', '/v1/credentials', {
      agent_id: agent.id,
      scope: 'mcp',
      scope_name: 'github',
      secret_key: 'TOKEN',
      value: 'a-secret-value',
    });
    await checked('GET', '/v1/credentials');
    await checked('POST', `/v1/credentials/${credential.data.id}/rotate`, { value: 'another-one' });
    await checked('GET', '/v1/skills');
    await checked('GET', '/v1/files');
    await checked('DELETE', `/v1/endpoints/${service.id}`);
  });

  it(
    verifies('versioning.openapi-served', 'says how the server fails, in the shape of each family'),
    async () => {
      const failures: [method: string, path: string, options: object][] = [
        ['GET', '/v1/agents/agent_none', {}],
        ['POST', '/v1/agents', { body: {} }],
        ['POST', '/v1/agents', { body: {}, key: 'sk-none' }],
        ['POST', '/v1/chat/completions', { body: {} }],
        ['POST', '/v1/messages', { body: {} }],
        ['POST', '/v1/messages', { body: {}, key: '' }],
        ['POST', '/v1beta/models/none:generateContent', { body: {} }],
        ['POST', '/v1beta/interactions', { body: {} }],
        ['GET', '/v1/models/acme/none', {}],
        ['GET', '/v1/deployment_runs/drun_none', {}],
      ];
      for (const [method, path, options] of failures) {
        const answer = await gateway.call(method, path, options);
        expect(answer.status, `${method} ${path}`).toBeGreaterThanOrEqual(400);
        checker.check(method, path, answer);
      }
    },
  );

  it('is enough for a generated client', async () => {
    const client = generateClient(document, { url: gateway.url, key: gateway.clientKey });
    const made = await client.call('post_v1_agents', {
      body: { name: 'Generated', model: 'acme/fast' },
    });
    expect(made['id']).toMatch(/^agent_/);
    const read = await client.call('get_v1_agents_id', { path: { id: String(made['id']) } });
    expect(read['name']).toBe('Generated');
    const listed = await client.call('get_v1_agents', { query: { limit: '1' } });
    expect((listed['data'] as unknown[]).length).toBe(1);
    const chat = await client.call('post_v1_chat_completions', {
      body: { model: 'acme/fast', messages: [{ role: 'user', content: 'hello' }] },
    });
    expect(chat['object']).toBe('chat.completion');
    await expect(client.call('get_v1_agents_id', { path: { id: 'x' } })).rejects.toThrow('404');
    await expect(client.call('get_v1_agents_id', {})).rejects.toThrow('id is required');
  });

  it(
    verifies('versioning.openapi-served', 'would tell of an answer that it does not foresee'),
    async () => {
      const answer = await gateway.call('GET', '/v1/account/balance');
      const strange = { ...answer, body: { ...answer.body, spent: 1 } };
      expect(() => checker.check('GET', '/v1/account/balance', strange)).toThrow('spent');
      const flat = { ...answer, status: 404, body: { message: 'none' } };
      expect(() => checker.check('GET', '/v1/account/balance', flat)).toThrow('error');
    },
  );

  // A line that goes, or that comes to need more, breaks clients of 1.x: only new ones may come.
  it(verifies('versioning.openapi-served', 'keeps what 1.x has promised'), async () => {
    await expect(`${toPromises(document).join('\n')}\n`).toMatchFileSnapshot(PROMISED);
  });
});

/** Answers may gain members and bodies may need fewer; what is here is what clients rely on. */
function toPromises(document: Document): string[] {
  return operationsOf(document).map(({ method, path, operation }) => {
    const statuses = Object.keys(operation.responses).filter((status) => status !== 'default');
    return [method, path, statuses.join(','), ...neededBy(document, operation).toSorted()].join(
      ' ',
    );
  });
}
