import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ResourceDefinition } from '../../src/resources/store/define-resource.ts';
import { RESOURCES } from '../../src/resources/registry.ts';
import type { Located } from '../e2e/api/openapi-checker.ts';
import { verifies } from '../requirements.ts';
import { CANARIES, startApiWorld } from './support/api-world.ts';
import type { ApiWorld } from './support/api-world.ts';
import { makeBelongings, SKILL } from './support/belongings.ts';
import { expectAlive, expectSafeAnswer, FUZZ } from './support/fuzz.ts';
import { hostileRequests } from './support/hostile-requests.ts';
import { createKeepAliveClient } from './support/keep-alive-client.ts';
import type { KeepAliveClient } from './support/keep-alive-client.ts';
import type { Named } from './support/sample-calls.ts';

let world: ApiWorld;
let client: KeepAliveClient;
let named: Named;
let organization: string;
let made = 0;

beforeAll(async () => {
  world = await startApiWorld();
  client = createKeepAliveClient(world.gateway.url);
  const member = await world.addMember('fuzzed');
  ({ organization } = member);
  const outside = world.outside.url;
  named = { ...(await makeBelongings(member, outside)), outside };
});
afterAll(async () => {
  client.close();
  await world.stop();
});

/** What a create of each kind takes; a file is made of a form alone. */
const BODIES: Readonly<Record<string, (name: string) => Record<string, unknown>>> = {
  organization: (name) => ({ name, spending_limit: '10', credit: '1' }),
  provider: (name) => ({
    name,
    type: 'custom',
    base_url: `${named.outside}/v1`,
    api_key: CANARIES.provider,
    protocols: { chat: true },
    labels: { a: 'b' },
  }),
  model: (name) => ({
    name: `v/${name}`,
    routes: [{ provider: 'mock', upstream_model: 'x', pricing: { input: '1', output: '2' } }],
    pricing: { per_call: '0.1' },
    fallbacks: ['acme/text'],
  }),
  api: (name) => ({ name, base_url: named.outside, api_key: CANARIES.api, paths: ['/a/*'] }),
  api_key: (name) => ({ name, organization, scopes: ['models'], spending_limit: { day: '1' } }),
  agent: (name) => ({ name, organization, model: 'acme/text', metadata: { a: 'b' } }),
  credential: (name) => ({
    name,
    organization,
    agent_id: named.agent,
    scope: 'mcp',
    scope_name: 'docs',
    secret_key: 'TOKEN',
    value: CANARIES.credential,
  }),
  skill: (name) => ({ name, organization, files: { 'SKILL.md': SKILL } }),
  endpoint: (name) => ({
    name,
    organization,
    slug: name,
    agent_id: named.agent,
    protocols: ['rest'],
  }),
  alias: (name) => ({ name, model: 'acme/text' }),
  budget: (name) => ({ name, organization, amount: 5, per: 'week', match: { models: ['acme/*'] } }),
  inventory: (name) => ({
    name,
    objects: [{ kind: 'model', identity: 'acme/text', id: 'model_1', fields: 'name routes' }],
    managed: { model: '2026-01-01T00:00:00.000Z' },
  }),
  deployment: (name) => ({
    name,
    organization,
    agent_id: named.agent,
    initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go.' }] }],
    schedule: { type: 'cron', expression: '0 7 1 1 *', timezone: 'Europe/Berlin' },
    notification_settings: { chat_webhook_url: `${named.outside}/bots/${CANARIES.hook}` },
  }),
};

interface AdminOperation {
  located: Located;
  body?: object;
  /** A resource of the kind that nothing else needs. */
  make(): Promise<string>;
}

function operationsOfKind(definition: ResourceDefinition): AdminOperation[] {
  const { path, kind, filters, actions = {}, fields, deletable } = definition;
  const bodyOf = BODIES[kind];
  if (!bodyOf && kind !== 'file') throw new Error(`what is a ${kind} made of?`);
  const schema = z.toJSONSchema(fields, { io: 'input', unrepresentable: 'any' });
  const requestBody = { content: { 'application/json': { schema: schema as object } } };
  const query = ['limit', 'page', 'q', 'search', 'name', 'include_archived', ...filters];
  const parameters = query.map((name) => ({ name, in: 'query', required: false }));
  const at = (method: string, below: string, more: object = {}): AdminOperation => ({
    located: {
      method,
      path: `${path}${below}`,
      operation: { operationId: '', responses: {}, ...more },
    },
    body: bodyOf?.(`fuzz-${++made}`),
    make: () => make(definition),
  });
  return [
    at('GET', '', { parameters }),
    at('POST', '', { requestBody }),
    at('GET', '/{id}', { parameters }),
    at('PATCH', '/{id}', { requestBody }),
    ...(deletable ? [at('DELETE', '/{id}')] : []),
    ...Object.keys(actions).map((action) => at('POST', `/{id}/${action}`)),
    at('GET', '/{id}/versions', { parameters }),
  ];
}

async function make({ kind, path }: ResourceDefinition): Promise<string> {
  const body = BODIES[kind]?.(`made-${++made}`);
  if (!body) return named.file;
  const answer = await world.gateway.admin('POST', path, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body.id;
}

const report = (path: string, query: string): AdminOperation => ({
  located: {
    method: 'GET',
    path,
    operation: {
      operationId: '',
      responses: {},
      parameters: query.split(' ').map((name) => ({ name, in: 'query', required: false })),
    },
  },
  make: async () => named.execution,
});

const REPORTS: readonly AdminOperation[] = [
  report('/admin/v1/usage', 'group_by from to organization'),
  report('/admin/v1/routing', 'model protocol stream organization key'),
  report('/admin/v1/spending', 'key organization'),
  report('/admin/v1/spending/budgets', 'organization'),
  report('/admin/v1/requests', 'organization key model status from to limit page'),
  report('/admin/v1/requests/{id}', 'x'),
  ...['/healthz', '/readyz', '/openapi.json', '/admin/openapi.json'].map((path) =>
    report(path, 'x'),
  ),
];

describe('what administrators and operators call', () => {
  it(
    verifies('ops.unhandled', 'answers in its shape, and never with 5xx, whatever it is asked'),
    { timeout: FUZZ.timeoutMs },
    async () => {
      for (const one of [...RESOURCES.flatMap(operationsOfKind), ...REPORTS]) await fuzz(one);
      // What is configured wrongly is told, too, and no fault.
      const lines = world.gateway.log().split('\n');
      expect(lines.filter((line) => /internal error|a job failed/.test(line))).toEqual([]);
    },
  );

  it(verifies('ops.unhandled', 'finds nothing by a name longer than any'), async () => {
    const long = 'x'.repeat(6_000);
    const headers = { authorization: `Bearer ${world.gateway.adminKey}` };
    for (const { located } of [...RESOURCES.flatMap(operationsOfKind), ...REPORTS]) {
      const { method, path, operation } = located;
      const queries = (operation.parameters ?? []).map(({ name }) => `${path}?${name}=${long}`);
      const targets = path.includes('{id}') ? [path.replace('{id}', long)] : queries;
      for (const target of targets) {
        const got = await client.send({ method, target, headers, body: Buffer.from('{}') });
        expectSafeAnswer({ method, target, headers, body: Buffer.alloc(0) }, got, []);
        if (path.includes('{id}')) expect([path, got.status]).toEqual([path, 404]);
      }
    }
  });
});

async function fuzz({ located, body, make: makeOne }: AdminOperation): Promise<void> {
  const id = located.path.includes('{id}') ? await makeOne() : '';
  const key = world.gateway.adminKey;
  const requests = hostileRequests(located, {
    document: world.document,
    named,
    key,
    samples: body ? [{ body }] : [],
    fill: (given) => located.path.replace('{id}', given?.['id'] ?? id),
  });
  const property = fc.asyncProperty(requests, async (request) => {
    const got = await client.send(request);
    expectSafeAnswer(request, got, [...Object.values(CANARIES), key]);
  });
  // Administrators are trusted more than the rest, and looked at less.
  const parameters = { ...FUZZ.parameters, numRuns: Math.ceil(FUZZ.runs / 2) };
  await fc.assert(property, parameters).catch((cause: unknown) => {
    const { message } = cause as Error;
    throw new Error(`${located.method} ${located.path}: ${message}`, { cause });
  });
  // A connection that one of them broke would have failed the next one; this is after the last.
  await expectAlive(client);
}
