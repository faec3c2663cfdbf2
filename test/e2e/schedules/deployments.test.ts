import Anthropic from '@anthropic-ai/sdk';
import Anthropic0 from 'anthropic-0';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runIndexOps, runKey } from '../../../src/scheduler/run-row.ts';
import type { RunRow } from '../../../src/scheduler/run-row.ts';
import { verifies } from '../../requirements.ts';
import { ask, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const CONFIG = {
  providers: [{ name: 'acme', type: 'mock' }],
  models: [{ name: 'acme/one', routes: [{ provider: 'acme' }] }],
  server: { compat: { resource_x_api_key: true } },
};

let gateway: TestGateway;
let agent: string;

beforeAll(async () => {
  gateway = await startGateway(CONFIG);
  const body = { name: 'reporter', model: 'acme/one' };
  agent = (await gateway.call('POST', '/v1/agents', { body })).body.id;
});

afterAll(() => gateway.stop());

const say = (text: string) => ({
  type: 'user.message' as const,
  content: [{ type: 'text' as const, text }],
});
/** Never while the tests run. */
const NEW_YEAR = { type: 'cron' as const, expression: '0 0 1 1 *', timezone: 'Europe/Berlin' };

const call = (method: string, path: string, body?: unknown) => gateway.call(method, path, { body });
const at = (path: string) => `/v1/deployments${path}`;

const make = async (body: object = {}): Promise<string> => {
  const least = { name: 'report', agent_id: agent, initial_events: [say('Report.')] };
  const made = await call('POST', at(''), { ...least, ...body });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return made.body.id;
};

const runsOf = async (id: string) => (await call('GET', at(`/${id}/runs`))).body.data;

/** A key of an organization of its own. */
async function newKey(organization: string, scopes: string[] | null = null): Promise<string> {
  await gateway.admin('POST', '/admin/v1/organizations', { name: organization });
  const body = { name: `k ${String(scopes)}`, organization, scopes };
  return (await gateway.admin('POST', '/admin/v1/keys', body)).body.value;
}

/** A run that nobody decides. */
async function putPending(deploymentId: string): Promise<string> {
  const { gateway: parts } = gateway;
  if (!parts) throw new Error('not in this process');
  const [owner] = (await gateway.admin('GET', '/admin/v1/organizations?name=default')).body.data;
  const run: RunRow = {
    id: parts.ids.next('drun'),
    organization: owner.id,
    deploymentId,
    agent: { id: agent, version: 1 },
    trigger: { type: 'manual' },
    payer: { keyId: 'key_1', keyName: 'k', organizationId: owner.id },
    sessionId: null,
    error: null,
    createdAt: new Date().toISOString(),
  };
  const put = { type: 'put' as const, key: runKey(run.id), value: run };
  await parts.store.commit([put, ...runIndexOps(run)]);
  return run.id;
}

const clients = {
  '1.x': () => new Anthropic({ apiKey: gateway.clientKey, baseURL: gateway.url, maxRetries: 0 }),
  '0.x': () => new Anthropic0({ apiKey: gateway.clientKey, baseURL: gateway.url, maxRetries: 0 }),
};

describe.each(Object.entries(clients))('the official client %s', (name, connect) => {
  it(
    verifies(
      'deployments.response.shape',
      'deployments.create.agent-alias',
      'deployments.list',
      'deployments.trigger.manual',
      'deployments.trigger.one-session',
      'runs.list.filters',
      'runs.get',
      'resource.pagination.envelope',
      'versioning.singular-run-alias',
      'leads a Schedule from its creation over its runs to the archive',
    ),
    async () => {
      const { deployments, deploymentRuns, sessions } = (connect() as Anthropic).beta;
      const created = await deployments.create({
        name: `report ${name}`,
        description: 'Reports.',
        agent: { type: 'agent', id: agent, version: 1 },
        environment_id: 'env_1',
        initial_events: [say('Report.')],
        schedule: NEW_YEAR,
        metadata: { team: 'a' },
        vault_ids: ['vlt_1'],
      });
      expect(created).toMatchObject({
        type: 'deployment',
        agent: { type: 'agent', id: agent, version: 1 },
        environment_id: 'env_1',
        status: 'active',
        paused_reason: null,
        archived_at: null,
        metadata: { team: 'a' },
      });
      expect(created.schedule?.upcoming_runs_at).toHaveLength(5);
      const { id } = created;
      expect(await deployments.retrieve(id)).toEqual(created);
      const updated = await deployments.update(id, { name: 'renamed', metadata: { team: null } });
      expect(updated).toMatchObject({ name: 'renamed', metadata: {} });

      expect(await deployments.pause(id)).toMatchObject({
        status: 'paused',
        paused_reason: { type: 'manual' },
      });
      const run = await deployments.run(id);
      expect(run).toMatchObject({
        type: 'deployment_run',
        deployment_id: id,
        agent: { type: 'agent', id: agent, version: 1 },
        trigger_context: { type: 'manual' },
        error: null,
      });
      expect(run.id).toMatch(/^drun_/);
      expect(run.session_id).toMatch(/^sess_/);
      expect(await deployments.unpause(id)).toMatchObject({ status: 'active' });
      const again = await deployments.run(id, {});
      expect(await deploymentRuns.retrieve(again.id)).toEqual(again);

      const session = await sessions.retrieve(String(run.session_id));
      expect(session).toMatchObject({
        deployment_id: id,
        environment_id: 'env_1',
        vault_ids: ['vlt_1'],
        agent: { id: agent },
      });
      const [first] = (await sessions.events.list(session.id, { limit: 1 })).data ?? [];
      expect(first).toMatchObject(say('Report.'));
      const ofSchedule: string[] = [];
      for await (const one of sessions.list({ deployment_id: id })) ofSchedule.push(one.id);
      expect(ofSchedule).toEqual([again.session_id, run.session_id]);

      const listed: string[] = [];
      for await (const one of deploymentRuns.list({
        deployment_id: id,
        trigger_type: 'manual',
        has_error: false,
        'created_at[gte]': created.created_at,
        limit: 1,
      }))
        listed.push(one.id);
      expect(listed).toEqual([again.id, run.id]);

      const other = await deployments.create({
        name: `second ${name}`,
        agent,
        environment_id: 'env_1',
        initial_events: [say('Go.')],
      });
      expect(other.schedule).toBeNull();
      const all = async (params: object) => {
        const found: string[] = [];
        for await (const one of deployments.list({ agent_id: agent, limit: 1, ...params }))
          if (one.id === id || one.id === other.id) found.push(one.id);
        return found;
      };
      expect(await all({ status: 'active' })).toEqual([other.id, id]);
      const archived = await deployments.archive(id);
      expect(archived.archived_at).toBeTruthy();
      expect(archived.schedule?.upcoming_runs_at).toEqual([]);
      expect(await all({})).toEqual([other.id]);
      expect(await all({ include_archived: true })).toEqual([other.id, id]);
      await expect(deployments.run(id)).rejects.toMatchObject({ status: 409 });
      await expect(deployments.unpause(id)).rejects.toMatchObject({ status: 409 });
      await expect(deployments.retrieve(run.id)).rejects.toMatchObject({ status: 404 });
    },
  );
});

describe('a Schedule as YAML', () => {
  /** @param request `METHOD path` */
  const send = (request: string, type: string, body: string) => {
    const [method = '', path = ''] = request.split(' ');
    const headers = { 'content-type': type };
    return ask(gateway.url + path, { method, key: gateway.clientKey, body, headers });
  };
  const TEXT = `
name: daily
runtime:
  type: agent
  model: acme/one
initial_events:
  - &hello
    type: user.message
    content: [{ type: text, text: "Report." }]
  - *hello
schedule: { type: cron, expression: '0 0 1 1 *', timezone: UTC }
`;

  it.each(['application/yaml', 'text/yaml; charset=utf-8', 'application/x-yaml'])(
    verifies('deployments.create.declarative', 'is created, and changed, as %s'),
    async (type) => {
      const created = await send(`POST ${at('')}`, type, TEXT);
      expect(created).toMatchObject({
        status: 201,
        body: {
          name: 'daily',
          runtime: { type: 'agent', model: { id: 'acme/one' } },
          initial_events: [say('Report.'), say('Report.')],
          schedule: { expression: '0 0 1 1 *' },
        },
      });
      const { id } = created.body;
      const changed = await send(`PATCH ${at(`/${id}`)}`, type, 'name: weekly\nschedule: null\n');
      expect(changed).toMatchObject({ status: 200, body: { name: 'weekly', schedule: null } });
      const run = await call('POST', at(`/${id}/runs`));
      expect(run).toMatchObject({ status: 200, body: { agent: null, error: null } });
      expect(run.body.session_id).toMatch(/^sess_/);
    },
  );

  it.each([
    ['name: a\n  b: c\n', /line \d, column \d/],
    ['name: a\nname: b\n', /line 2, column 1: the key name is given twice/],
    ['name: *nobody\n', /line 1, column 7/],
    ['schedule:\n  expression: * * * * *\n', /line 2, column 15/],
    ['- a\n', /mapping/],
    ['a: 1\n---\nb: 2\n', /one document/],
    ['', /mapping/],
    ['a: &a [*a]\n', /line 1/],
  ])('is refused where it is no YAML: %j', async (text, message) => {
    const refused = await send(`POST ${at('')}`, 'application/yaml', text);
    expect(refused).toMatchObject({ status: 400, body: { error: { type: 'invalid_request' } } });
    expect(refused.body.error.message).toMatch(message);
  });

  it.each([
    {
      from: "expression: '0 0 1 1 *'",
      to: "expression: '0 25 * * *'",
      status: 422,
      says: 'line 11, column 37: schedule.expression',
    },
    {
      from: 'type: user.message',
      to: 'type: user.interrupt',
      status: 400,
      says: 'line 8, column 11: initial_events[0].type',
    },
    {
      from: 'model: acme/one',
      to: 'model: 7',
      status: 400,
      says: 'line 5, column 10: runtime.model',
    },
  ])('is told where a value has no meaning: $to', async ({ from, to, status, says }) => {
    const refused = await send(`POST ${at('')}`, 'text/yaml', TEXT.replace(from, to));
    expect(refused.status).toBe(status);
    expect(refused.body.error.message).toContain(says);
  });

  it('is judged as JSON is, and YAML is no JSON', async () => {
    const none = await send(`POST ${at('')}`, 'text/yaml', TEXT.replace('name: daily', 'x: y'));
    expect(none).toMatchObject({ status: 400, body: { error: { param: 'name' } } });
    expect((await send(`POST ${at('')}`, 'application/json', TEXT)).status).toBe(400);
    expect((await send('POST /v1/agents', 'text/yaml', 'name: a\n')).status).toBe(400);
  });
});

describe('a trigger by hand', () => {
  const post = (path: string, init: { body?: string; headers?: object } = {}) =>
    fetch(gateway.url + path, {
      method: 'POST',
      ...init,
      headers: { authorization: `Bearer ${gateway.clientKey}`, ...init.headers },
    });
  const json = { 'content-type': 'application/json' };

  it.each(['run', 'runs'])(
    verifies(
      'deployments.trigger.manual',
      'deployments.trigger.status',
      'versioning.singular-run-alias',
      'at /%s takes nothing, or an empty object, and makes one run each time',
    ),
    async (action) => {
      const id = await make();
      const made: string[] = [];
      for (const init of [{}, { headers: json }, { body: '{}' }, { body: '{ }', headers: json }]) {
        const answer = await post(at(`/${id}/${action}`), init);
        expect(answer.status).toBe(200);
        const run = (await answer.json()) as Record<string, string>;
        expect(run).toMatchObject({ deployment_id: id, error: null });
        made.unshift(run['id'] as string);
        expect(await runsOf(id)).toHaveLength(made.length);
      }
      expect((await runsOf(id)).map((run: { id: string }) => run.id)).toEqual(made);
    },
  );

  it.each(['run', 'runs'])(
    verifies(
      'deployments.trigger.no-overrides',
      'at /%s refuses whatever else is sent, and makes no run',
    ),
    async (action) => {
      const id = await make();
      const bodies = ['{"input":1}', '{"agent_id":null}', '[]', 'null', '"{}"', '7', '{', '{}{}'];
      for (const body of bodies) {
        const answer = await post(at(`/${id}/${action}`), { body, headers: json });
        expect(answer.status, body).toBe(400);
      }
      expect(await runsOf(id)).toEqual([]);
    },
  );

  it('is not there for what is no Schedule, or archived', async () => {
    const id = await make();
    for (const other of ['depl_none', id.replace('depl', 'drun'), agent])
      expect((await call('POST', at(`/${other}/runs`))).status, other).toBe(404);
    await call('POST', at(`/${id}/archive`));
    const refused = await call('POST', at(`/${id}/runs`));
    expect(refused).toMatchObject({
      status: 409,
      body: { error: { type: 'deployment_archived' } },
    });
    expect(refused.headers.get('x-should-retry')).toBe('false');
    expect(await runsOf(id)).toEqual([]);
  });
});

describe('the Sessions of a Schedule', () => {
  it(
    verifies(
      'deployments.agent-config',
      'deployments.initial-events.rules',
      'begin with its messages as they are now, on the Agent as it was bound, with what overrides it',
    ),
    async () => {
      const body = { name: 'bound', model: 'acme/one', system: 'one', description: 'first' };
      const bound = (await call('POST', '/v1/agents', body)).body.id;
      const system = { type: 'system.message', content: [{ type: 'text', text: 'Today.' }] };
      const agent_config = { system: 'Be brief.' };
      const initial_events = [system, say('Report.')];
      const id = await make({ agent_id: bound, agent_config, initial_events });
      await call('PATCH', `/v1/agents/${bound}`, { version: 1, description: 'second' });
      const sessionOf = async () => {
        const { body: run } = await call('POST', at(`/${id}/run`));
        const path = `/v1/sessions/${run.session_id}`;
        const events = await call('GET', `${path}/events?limit=2`);
        const sent = events.body.data.map(({ id: _id, processed_at: _at, ...event }: any) => event);
        return { ...(await call('GET', path)).body, sent };
      };
      expect(await sessionOf()).toMatchObject({
        agent: { id: bound, version: 1, system: 'Be brief.', description: 'first' },
        entry_point: 'schedule',
        sent: initial_events,
      });
      await call('PATCH', at(`/${id}`), { agent_config: null, initial_events: [say('Stop.')] });
      const next = await sessionOf();
      expect(next).toMatchObject({ agent: { version: 1, system: 'one' } });
      expect(next.sent[0]).toEqual(say('Stop.'));
    },
  );
});

describe('a run', () => {
  it(
    verifies(
      'runs.get',
      'runs.nested-get.pending-409',
      'runs.list.of-schedule',
      'deployments.delete.eligible',
      'is read by its id and below its Schedule, and outlives it',
    ),
    async () => {
      const id = await make();
      const { body: run } = await call('POST', at(`/${id}/runs`));
      const flat = `/v1/deployment_runs/${run.id}`;
      expect(await call('GET', flat)).toMatchObject({ status: 200, body: run });
      expect(await call('GET', at(`/${id}/runs/${run.id}`))).toMatchObject({
        status: 200,
        body: run,
      });
      const other = await make();
      expect((await call('GET', at(`/${other}/runs/${run.id}`))).status).toBe(404);
      expect(await runsOf(other)).toEqual([]);
      for (const method of ['PATCH', 'POST', 'DELETE', 'PUT'])
        expect((await call(method, flat)).status, method).toBe(405);
      for (const strange of ['drun_none', run.session_id, id, '%00'])
        expect((await call('GET', `/v1/deployment_runs/${strange}`)).status).toBe(404);
      expect((await call('DELETE', at(`/${id}`))).body).toMatchObject({ id, deleted: true });
      expect((await call('GET', at(`/${id}/runs`))).status).toBe(404);
      expect((await call('GET', flat)).body).toEqual(run);
      const listed = await call('GET', `/v1/deployment_runs?deployment_id=${id}`);
      expect(listed.body).toEqual({ data: [run], next_page: null });
      expect((await call('GET', `/v1/sessions/${run.session_id}`)).status).toBe(200);
    },
  );

  it(
    verifies(
      'runs.get',
      'runs.nested-get.pending-409',
      'that is pending is told as it is, but below its Schedule as a conflict to try again',
    ),
    async () => {
      const id = await make();
      const pending = await putPending(id);
      expect(await call('GET', `/v1/deployment_runs/${pending}`)).toMatchObject({
        status: 200,
        body: { id: pending, session_id: null, error: null },
      });
      const nested = await call('GET', at(`/${id}/runs/${pending}`));
      expect(nested).toMatchObject({
        status: 409,
        body: { error: { type: 'deployment_trigger_in_progress' } },
      });
      expect(nested.headers.get('x-should-retry')).toBeNull();
      const ids = (query: string) =>
        call('GET', `/v1/deployment_runs?${query}`).then(({ body }) =>
          body.data.map((run: { id: string }) => run.id),
        );
      expect(await ids(`status=pending&deployment_ids[]=${id}`)).toEqual([pending]);
      expect(await ids(`status=succeeded,failed&deployment_ids[]=${id}`)).toEqual([]);
      expect((await call('GET', '/v1/deployment_runs?status=done')).status).toBe(400);
    },
  );
});

describe('a run that fails', () => {
  it(
    verifies(
      'runs.session-xor-error',
      'runs.field-values',
      'runs.list.filters',
      'deployments.trigger.one-session',
      'has an error and no Session, leaves the Schedule active, and is found by its error',
    ),
    async () => {
      const body = { name: 'ended', model: 'acme/one' };
      const ended = (await call('POST', '/v1/agents', { ...body })).body.id;
      const id = await make({ agent_id: ended });
      const { body: first } = await call('POST', at(`/${id}/run`));
      expect(first).toMatchObject({ session_id: expect.stringMatching(/^sess_/), error: null });
      await call('POST', `/v1/agents/${ended}/archive`);
      const failed = await call('POST', at(`/${id}/run`));
      expect(failed).toMatchObject({
        status: 200,
        body: {
          session_id: null,
          error: { type: 'agent_archived_error', message: expect.any(String) },
          agent: { type: 'agent', id: ended, version: 1 },
        },
      });
      const sessions = await call('GET', `/v1/sessions?deployment_id=${id}`);
      expect(sessions.body.data.map((one: { id: string }) => one.id)).toEqual([first.session_id]);
      expect((await call('GET', at(`/${id}`))).body.status).toBe('active');
      const list = async (query: string) =>
        (await call('GET', at(`/${id}/runs?${query}`))).body.data;
      expect(await list('has_error=true')).toEqual([failed.body]);
      expect(await list('status=failed')).toEqual([failed.body]);
      expect(await list('status=succeeded&has_error=false')).toEqual([first]);
    },
  );
});

describe('the test of a notification', () => {
  it(
    verifies(
      'deployments.notification.test',
      'deployments.notification.test-outcome',
      'takes no body, and needs a webhook',
    ),
    async () => {
      const id = await make();
      const path = at(`/${id}/notifications/chat/test`);
      expect((await call('POST', path, { text: 'mine' })).status).toBe(400);
      expect((await call('POST', path, [])).status).toBe(400);
      for (const body of [undefined, {}]) expect((await call('POST', path, body)).status).toBe(409);
      expect((await call('GET', path)).status).toBe(405);
      expect((await call('POST', at('/depl_none/notifications/chat/test'))).status).toBe(404);
    },
  );
});

describe('Schedules and their runs', () => {
  it(
    verifies(
      'resource.org-isolation',
      'auth.scope.vocabulary',
      'are there for keys of their organization with the scope deployments alone',
    ),
    async () => {
      const id = await make();
      const { body: run } = await call('POST', at(`/${id}/runs`));
      const paths: [method: string, path: string][] = [
        ['GET', at(`/${id}`)],
        ['PATCH', at(`/${id}`)],
        ['DELETE', at(`/${id}`)],
        ['POST', at(`/${id}/pause`)],
        ['POST', at(`/${id}/archive`)],
        ['POST', at(`/${id}/runs`)],
        ['POST', at(`/${id}/run`)],
        ['GET', at(`/${id}/runs`)],
        ['GET', at(`/${id}/runs/${run.id}`)],
        ['POST', at(`/${id}/notifications/chat/test`)],
        ['GET', `/v1/deployment_runs/${run.id}`],
      ];
      const as = (key: string, method: string, path: string) => {
        const isBare = method === 'GET' || method === 'DELETE';
        return gateway.call(method, path, { key, ...(!isBare && { body: {} }) });
      };
      const foreign = await newKey('elsewhere');
      const agents = await newKey('elsewhere', ['agents', 'sessions']);
      for (const [method, path] of paths) {
        const absent = await as(foreign, method, path);
        expect(absent.status, `${method} ${path}`).toBe(404);
        const refused = await as(agents, method, path);
        expect(refused, `${method} ${path}`).toMatchObject({
          status: 403,
          body: { error: 'insufficient_scope' },
        });
      }
      for (const path of ['/v1/deployments', '/v1/deployment_runs']) {
        expect((await as(foreign, 'GET', path)).body).toEqual({
          data: [],
          next_page: null,
        });
        expect((await as(agents, 'GET', path)).status).toBe(403);
      }
      const limited = await newKey('default', ['deployments']);
      expect((await as(limited, 'GET', at(`/${id}`))).body.status).toBe('active');
      expect((await as(limited, 'POST', at(`/${id}/runs`))).status).toBe(200);
      expect(await runsOf(id)).toHaveLength(2);
    },
  );
});
