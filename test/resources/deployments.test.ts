import { beforeEach, describe, expect, it } from 'vitest';
import { deployment } from '../../src/resources/kinds/deployment.ts';
import { DUE_PREFIX, pendingRunKey } from '../../src/resources/store/due-index.ts';
import { verifies } from '../requirements.ts';
import { makeResources } from './make-resources.ts';
import type { Resources } from './make-resources.ts';

let resources: Resources;
let home: string;
let agent: string;

beforeEach(async () => {
  resources = makeResources();
  home = (await resources.call('POST organizations', { body: { name: 'home' } })).body['id'];
  agent = (await call('POST agents', { name: 'Coder', model: 'acme/fast' })).body['id'];
});

const call = (request: string, body?: unknown, query = '') =>
  resources.call(request, { body, query, organization: home, platform: false });

const say = (text: string) => ({ type: 'user.message', content: [{ type: 'text', text }] });
const WEEKDAYS = { type: 'cron', expression: '0 7 * * 1-5', timezone: 'UTC' };
const DAILY = { type: 'cron', expression: '0 6 * * *', timezone: 'Europe/Berlin' };
const HOOK = 'https://hooks.slack.com/services/T0/B0/canary51d8e0';

/** On 2026-11-21, a Saturday, at midnight. */
const least = () => ({ name: 'report', agent_id: agent, initial_events: [say('Go.')] });
const post = (body: object = {}) => call('POST deployments', { ...least(), ...body });
const make = async (body: object = {}) => (await post(body)).body;
const patch = (id: string, body: object) => call(`PATCH deployments/${id}`, body);
const act = (id: string, action: string) => call(`POST deployments/${id}/${action}`);
const newVersion = (system: string) => call(`PATCH agents/${agent}`, { system });

/** What the index says fires, as `instant id`. */
async function due(): Promise<string[]> {
  const rows = await resources.store.list({ prefix: DUE_PREFIX });
  for (const { value } of rows) expect(value).toEqual({ organization: home });
  return rows.map(({ key }) => `${new Date(Number(key[1])).toISOString()} ${String(key[2])}`);
}

const dueAt = async (at: string, id: string) => expect(await due()).toEqual([`${at} ${id}`]);

describe('a new Schedule', () => {
  it(
    verifies(
      'deployments.response.shape',
      'deployments.get.resolved-bindings',
      'deployments.id.prefix',
      'versioning.compat-service-paths',
      'binds its Agent at the latest version and shows every member',
    ),
    async () => {
      await newVersion('two');
      const created = await post({ schedule: WEEKDAYS });
      expect(created.status).toBe(201);
      expect(created.body).toEqual({
        id: expect.stringMatching(/^depl_[0-9a-z]{26}$/),
        type: 'deployment',
        name: 'report',
        description: null,
        agent: { type: 'agent', id: agent, version: 2 },
        agent_id: agent,
        agent_version: 2,
        agent_binding: { agent_id: agent, agent_version: 2 },
        agent_config: null,
        runtime: null,
        initial_events: [say('Go.')],
        schedule: {
          ...WEEKDAYS,
          last_run_at: null,
          upcoming_runs_at: [
            '2026-11-23T07:00:00.000Z',
            '2026-11-24T07:00:00.000Z',
            '2026-11-25T07:00:00.000Z',
            '2026-11-26T07:00:00.000Z',
            '2026-11-27T07:00:00.000Z',
          ],
        },
        timeout_policy: null,
        status: 'active',
        paused: false,
        paused_reason: null,
        version: 1,
        chat_webhook_configured: false,
        metadata: {},
        labels: {},
        environment_id: 'env_default',
        resources: [],
        vault_ids: [],
        created_at: '2026-11-21T00:00:00.000Z',
        updated_at: '2026-11-21T00:00:00.000Z',
        archived_at: null,
      });
      const { id } = created.body;
      await newVersion('three');
      expect((await call(`GET deployments/${id}`)).body).toEqual(created.body);
      expect((await call('GET deployments/depl_none')).status).toBe(404);
      expect((await call(`GET deployments/${id.replace('depl', 'sess')}`)).status).toBe(404);
      const full = {
        description: 'Reports.',
        timeout_policy: { session_timeout_seconds: 600 },
        metadata: { team: 'a' },
        labels: { of: 'us' },
        environment_id: 'env_1',
        resources: [{ type: 'file', file_id: 'file_1' }],
        vault_ids: ['vlt_1'],
      };
      expect(await make({ ...full, agent_version: 1 })).toMatchObject({
        ...full,
        agent: { version: 1 },
      });
    },
  );

  it(
    verifies(
      'deployments.create.required',
      'needs a name, first events, and an Agent or a runtime but not both',
    ),
    async () => {
      const runtime = { type: 'agent', model: 'acme/fast' };
      const { name: _name, ...nameless } = least();
      const { initial_events: _events, ...silent } = least();
      const { agent_id: _agent, ...unbound } = least();
      for (const [body, param] of [
        [nameless, 'name'],
        [silent, 'initial_events'],
        [unbound, 'agent_id'],
        [{ ...least(), runtime }, 'runtime'],
      ] as const) {
        expect(await call('POST deployments', body)).toMatchObject({
          status: 400,
          body: { param },
        });
      }
      const gone = await post({ agent_id: 'agent_none' });
      expect(gone).toMatchObject({ status: 404, body: { param: 'agent_id' } });
      expect((await post({ agent_version: 7 })).status).toBe(404);
      await call(`POST agents/${agent}/archive`);
      expect(await post()).toMatchObject({ status: 409, body: { type: 'agent_archived' } });
      expect((await call('GET deployments')).body['data']).toEqual([]);
    },
  );

  it(
    verifies(
      'deployments.create.agent-alias',
      'deployments.update.binding-spellings',
      'names its Agent in any spelling, all of which must say the same',
    ),
    async () => {
      await newVersion('two');
      const { agent_id: _agent, ...rest } = least();
      for (const [spelled, version] of [
        [{ agent }, 2],
        [{ agent: { type: 'agent', id: agent, version: 1 } }, 1],
        [{ agent: { id: agent } }, 2],
        [{ agent_id: agent, agent_version: '1' }, 1],
        [{ agent_binding: { agent_id: agent } }, 2],
        [{ agent_binding: { type: 'agent', id: agent, version: 1 } }, 1],
        [{ agent, agent_id: agent, agent_binding: { agent_id: agent, agent_version: 1 } }, 1],
      ] as const) {
        const { status, body } = await call('POST deployments', { ...rest, ...spelled });
        expect(status, JSON.stringify(spelled)).toBe(201);
        expect(body).toMatchObject({ agent: { type: 'agent', id: agent, version } });
        expect(body['agent_id']).toBe(agent);
      }
      for (const spelled of [
        { agent, agent_id: 'agent_other' },
        { agent: { id: agent, version: 1 }, agent_version: 2 },
        { agent: { type: 'service', id: agent } },
        { agent: 7 },
        { agent, agent_binding: { agent_id: 'agent_other' } },
        { agent_binding: agent },
        { agent_binding: {} },
      ]) {
        const { status } = await call('POST deployments', { ...rest, ...spelled });
        expect(status, JSON.stringify(spelled)).toBe(400);
      }
    },
  );

  it(
    verifies(
      'deployments.create.declarative',
      'may have a runtime of its own, of the one type that there is and for good',
    ),
    async () => {
      const { agent_id: _agent, ...rest } = least();
      const runtime = { type: 'agent', model: 'acme/fast', system: 'Be brief.' };
      const created = await call('POST deployments', { ...rest, runtime });
      expect(created.status).toBe(201);
      expect(created.body).toMatchObject({
        runtime: { ...runtime, model: { id: 'acme/fast' }, tools: [] },
        agent: null,
        agent_id: null,
        agent_binding: null,
      });
      const { id } = created.body;
      await act(id, 'pause');
      const paused = (await call(`GET deployments/${id}`)).body;
      for (const change of [
        { runtime: { ...runtime, system: 'Be long.' } },
        { runtime: null },
        { agent_id: agent },
        { agent_binding: { agent_id: agent, agent_version: 1 } },
      ])
        expect((await patch(id, change)).status, JSON.stringify(change)).toBe(400);
      expect((await patch(id, paused)).body).toEqual(paused);
      const bound = await make();
      expect(await patch(bound['id'], { runtime })).toMatchObject({
        status: 400,
        body: { param: 'runtime' },
      });
      const strange = await call('POST deployments', { ...rest, runtime: { type: 'image' } });
      expect(strange).toMatchObject({ status: 422, body: { param: 'runtime.type' } });
      const broken = await call('POST deployments', { ...rest, runtime: { type: 'agent' } });
      expect(broken).toMatchObject({ status: 400, body: { param: 'runtime.model' } });
    },
  );

  it(
    verifies(
      'deployments.initial-events.rules',
      'begins with up to 50 messages of typed parts, one of them of a person',
    ),
    async () => {
      const system = { type: 'system.message', content: [{ type: 'text', text: 'Today.' }] };
      const picture = {
        type: 'user.message',
        content: [{ type: 'image', source: { type: 'url', url: 'https://a.example/b.png' } }],
      };
      const events = [system, picture, ...Array.from({ length: 48 }, () => say('Go.'))];
      expect((await make({ initial_events: events }))['initial_events']).toEqual(events);
      for (const [initial_events, param] of [
        [{}, 'initial_events'],
        [[], 'initial_events'],
        [null, 'initial_events'],
        [[system], 'initial_events'],
        [[...events, say('More.')], 'initial_events'],
        [[say('Go.'), { type: 'user.interrupt' }], 'initial_events[1].type'],
        [[{ type: 'user.message', content: 'Go.' }], 'initial_events[0].content'],
        [[{ type: 'user.message', content: [] }], 'initial_events[0].content'],
        [
          [{ type: 'user.message', content: [{ type: 'text' }] }],
          'initial_events[0].content[0].text',
        ],
        [
          [{ ...system, content: picture.content }, say('Go.')],
          'initial_events[0].content[0].type',
        ],
      ] as const) {
        const { status, body } = await post({ initial_events });
        expect([status, body['param']], JSON.stringify(initial_events).slice(0, 80)).toEqual([
          400,
          param,
        ]);
      }
      const large = await post({ initial_events: [say('x'.repeat(512 * 1024))] });
      expect(large).toMatchObject({ status: 413, body: { param: 'initial_events' } });
    },
  );

  it(
    verifies(
      'deployments.schedule.cron-only',
      'deployments.schedule.cron-dialect',
      'fires by cron in a zone of the IANA alone',
    ),
    async () => {
      const refused = async (schedule: object, status: number, param: string) =>
        expect(await post({ schedule: { ...WEEKDAYS, ...schedule } })).toMatchObject({
          status,
          body: { param },
        });
      await refused({ type: 'interval' }, 400, 'schedule.type');
      await refused({ type: undefined }, 400, 'schedule.type');
      await refused({ expression: 7 }, 400, 'schedule.expression');
      await refused({ timezone: undefined }, 400, 'schedule.timezone');
      for (const expression of [
        '',
        '@daily',
        '0 0 7 * * *',
        '0 7 * *',
        '60 7 * * *',
        '0 7 L * *',
        '0 7 ? * 1',
        '0 7 * * 1#2',
        '0 7 15W * *',
        '0 7 * * 8',
        '30 2 31 2 *',
      ])
        await refused({ expression }, 422, 'schedule.expression');
      for (const timezone of ['', 'Mars/Base', '+02:00', 'Berlin'])
        await refused({ timezone }, 422, 'schedule.timezone');
      expect(await due()).toEqual([]);
      const { id } = await make({ schedule: { ...WEEKDAYS, expression: '*/15 8-10,12 * * 0-7' } });
      await dueAt('2026-11-21T08:00:00.000Z', id);
    },
  );

  it('has no budget', async () => {
    const budget = { type: 'limit', usd: '1' };
    expect(await post({ budget })).toMatchObject({ status: 400, body: { param: 'budget' } });
    expect(await make({ budget: null })).not.toHaveProperty('budget');
  });
});

describe('the webhook of a Schedule', () => {
  const settings = (chat_webhook_url: unknown) => ({ notification_settings: { chat_webhook_url } });

  it(
    verifies(
      'deployments.notification.one-key',
      'deployments.notification.write-only',
      'is shown as configured, replaced, and removed by null',
    ),
    async () => {
      const { id, chat_webhook_configured: configured } = await make(settings(HOOK));
      expect(configured).toBe(true);
      const stored = () =>
        resources.repository.get(resources.repository.definitionOf('deployment'), id, {
          organization: home,
        });
      const reveal = async () =>
        resources.repository.reveal(await stored(), 'notification_settings');
      expect(await reveal()).toBe(HOOK);
      expect(JSON.stringify(await call(`GET deployments/${id}`))).not.toContain('canary');
      expect((await patch(id, { description: 'x' })).body['chat_webhook_configured']).toBe(true);
      const other = await patch(id, settings(`${HOOK}2`));
      expect(other.body).toMatchObject({ chat_webhook_configured: true, version: 3 });
      expect(await reveal()).toBe(`${HOOK}2`);
      expect((await patch(id, settings(`${HOOK}2`))).body['version']).toBe(3);
      for (const nothing of [settings(null), { notification_settings: null }]) {
        await patch(id, settings(HOOK));
        expect((await patch(id, nothing)).body['chat_webhook_configured']).toBe(false);
        expect(await reveal()).toBeUndefined();
      }
      for (const wrong of [
        { notification_settings: {} },
        { notification_settings: HOOK },
        { notification_settings: { chat_webhook_url: HOOK, secret: 'x' } },
        settings(7),
      ])
        expect((await patch(id, wrong)).status, JSON.stringify(wrong)).toBe(400);
      expect((await make({ notification_settings: null }))['chat_webhook_configured']).toBe(false);
    },
  );

  it(
    verifies(
      'deployments.notification.official-path',
      'is the official one of a provider, and a refusal does not repeat it',
    ),
    async () => {
      for (const url of [
        HOOK.replace('https', 'http'),
        'https://canary.example/services/T0/B0/x',
        'https://hooks.slack.com.canary.example/services/T0/B0/x',
        'https://hooks.slack.com/canary',
        'canary',
      ]) {
        const refused = await post(settings(url));
        expect(refused).toMatchObject({
          status: 422,
          body: { param: 'notification_settings.chat_webhook_url' },
        });
        expect(JSON.stringify(refused)).not.toContain('canary');
      }
    },
  );
});

describe('the settings of its Sessions', () => {
  it(
    verifies(
      'deployments.agent-config',
      'are members of the Agent that it overrides, and make an Agent together with the rest',
    ),
    async () => {
      const files = { type: 'stdio', name: 'files', server: 'files' };
      const toolset = { type: 'mcp_toolset', mcp_server_name: 'files' };
      const agent_config = { model: 'acme/slow', system: null, tools: [toolset] };
      const { id, ...made } = await make({
        agent_config: { ...agent_config, mcp_servers: [files] },
      });
      expect(made['agent_config']).toMatchObject({
        model: { id: 'acme/slow' },
        system: null,
        mcp_servers: [files],
      });
      expect(Object.keys(made['agent_config']).sort()).toEqual([
        'mcp_servers',
        'model',
        'system',
        'tools',
      ]);
      for (const [config, status, param] of [
        [{ harness: 'coder' }, 400, 'agent_config.harness'],
        [{ model: null }, 400, 'agent_config.model'],
        [agent_config, 400, 'agent_config.tools[0].mcp_server_name'],
        [
          { tools: [toolset], mcp_servers: [{ ...files, server: 'other' }] },
          422,
          'agent_config.mcp_servers[0].server',
        ],
        [
          { skills: [{ type: 'custom', skill_id: 'skill_none' }] },
          404,
          'agent_config.skills[0].skill_id',
        ],
        [7, 400, 'agent_config'],
      ] as const) {
        expect(await patch(id, { agent_config: config }), JSON.stringify(config)).toMatchObject({
          status,
          body: { param },
        });
      }
      expect((await patch(id, { agent_config: null })).body).toMatchObject({
        agent_config: null,
        version: 2,
      });
    },
  );

  it('override the version that is bound, not the latest one', async () => {
    const server = { type: 'stdio', name: 'files', server: 'files' };
    const toolset = { type: 'mcp_toolset', mcp_server_name: 'files' };
    await call(`PATCH agents/${agent}`, { mcp_servers: [server], tools: [toolset] });
    const agent_config = { tools: [toolset] };
    expect((await post({ agent_config, agent_version: 1 })).status).toBe(400);
    expect((await post({ agent_config, agent_version: 2 })).status).toBe(201);
  });

  it('pin the Skills that they name', async () => {
    const files = { 'SKILL.md': '---\nname: review\ndescription: Reviews.\n---\nRead it.' };
    const { id: skill_id } = (await call('POST skills', { name: 'review', files })).body;
    const agent_config = { skills: [{ type: 'custom', skill_id }] };
    const { id, ...made } = await make({ agent_config });
    const [pinned] = made['agent_config'].skills;
    expect(pinned).toEqual({ type: 'custom', skill_id, version: expect.any(String) });
    expect((await call(`DELETE skills/${skill_id}`)).status).toBe(409);
    const same = await patch(id, { agent_config: made['agent_config'] });
    expect(same.body['version']).toBe(1);
  });

  it(
    verifies(
      'deployments.timeout-policy',
      'limit their life and idleness in whole seconds; null takes a limit away',
    ),
    async () => {
      const both = { session_timeout_seconds: 3600, idle_timeout_seconds: 60 };
      const { id, timeout_policy: policy } = await make({ timeout_policy: both });
      expect(policy).toEqual(both);
      const less = await patch(id, {
        timeout_policy: { ...both, session_timeout_seconds: null },
      });
      expect(less.body['timeout_policy']).toEqual({ idle_timeout_seconds: 60 });
      expect((await patch(id, { timeout_policy: null })).body['timeout_policy']).toBeNull();
      for (const limit of [0, -1, 1.5, '60', 1e12]) {
        const timeout_policy = { idle_timeout_seconds: limit };
        expect([400, 422], String(limit)).toContain((await patch(id, { timeout_policy })).status);
      }
      // A limit that nobody reads would be no limit.
      const misspelt = await patch(id, { timeout_policy: { idle_timeout: 5 } });
      expect([misspelt.status, misspelt.body['param'], misspelt.body['message']]).toEqual([
        400,
        'timeout_policy.idle_timeout',
        'timeout_policy.idle_timeout: unknown field; known: session_timeout_seconds, idle_timeout_seconds',
      ]);
    },
  );
});

describe('a change of a Schedule', () => {
  it(
    verifies(
      'deployments.update.fields',
      'deployments.schedule.manual-only',
      'versioning.post-update-alias',
      'replaces what it names and keeps the rest, one version on, by PATCH and by POST',
    ),
    async () => {
      for (const method of ['PATCH', 'POST']) {
        const { id, ...made } = await make({ schedule: WEEKDAYS, metadata: { a: 'b', c: 'd' } });
        const changes: object[] = [
          { name: 'renamed' },
          { initial_events: [say('Stop.'), say('Go.')] },
          { schedule: { ...DAILY, last_run_at: null, upcoming_runs_at: ['x'] } },
          { timeout_policy: { idle_timeout_seconds: 5 } },
          { agent_config: { system: 'Be kind.' } },
          { description: 'More.' },
          { environment_id: 'env_2' },
          { vault_ids: ['vlt_2'] },
        ];
        let expected: Record<string, unknown> = made;
        for (const [index, change] of changes.entries()) {
          const { status, body } = await call(`${method} deployments/${id}`, change);
          expect(status, JSON.stringify(body)).toBe(200);
          expect(body['version']).toBe(index + 2);
          expected = { ...expected, ...change, version: body['version'] };
          if ('schedule' in change) expected['schedule'] = body['schedule'];
          expect(body).toEqual({ id, ...expected });
        }
        expect(expected['schedule']).toMatchObject({
          ...DAILY,
          upcoming_runs_at: { 0: '2026-11-21T05:00:00.000Z' },
        });
        const metadata = { a: null, e: 'f' };
        const patched = await call(`${method} deployments/${id}`, { metadata });
        expect(patched.body['metadata']).toEqual({ c: 'd', e: 'f' });
        const manual = await call(`${method} deployments/${id}`, { schedule: null });
        expect(manual.body).toMatchObject({ schedule: null, status: 'active' });
        expect(await due()).toEqual([]);
      }
    },
  );

  it(
    verifies(
      'deployments.update.expected-version',
      'is refused for another version than the one expected, and changes nothing',
    ),
    async () => {
      const { id } = await make();
      expect((await patch(id, { name: 'b', expected_version: 1 })).status).toBe(200);
      expect(await patch(id, { name: 'c', expected_version: 1 })).toMatchObject({
        status: 409,
        body: { type: 'version_conflict', retry: false },
      });
      expect((await patch(id, { name: 'c', expected_version: 'x' })).status).toBe(400);
      expect((await call(`GET deployments/${id}`)).body).toMatchObject({ name: 'b', version: 2 });
      const same = await patch(id, { name: 'b', expected_version: 2 });
      expect(same).toMatchObject({ status: 200, body: { version: 2 } });
      expect((await patch(id, { name: 'c' })).body).toMatchObject({ name: 'c', version: 3 });
    },
  );

  it(
    verifies(
      'deployments.update.binding-needs-paused',
      'deployments.update.binding-spellings',
      'binds another Agent while it is paused alone',
    ),
    async () => {
      await newVersion('two');
      const other = (await call('POST agents', { name: 'Other', model: 'acme/fast' })).body['id'];
      const { id } = await make({ schedule: WEEKDAYS });
      const rebinds = [
        { agent_binding: { agent_id: other } },
        { agent_binding: { type: 'agent', id: agent, version: 1 } },
        { agent: other },
        { agent_id: other },
        { agent_version: 1 },
      ];
      const before = (await call(`GET deployments/${id}`)).body;
      for (const body of rebinds) {
        expect(await patch(id, { ...body, name: 'no' })).toMatchObject({
          status: 409,
          body: { type: 'deployment_not_paused', retry: false },
        });
        expect((await call(`GET deployments/${id}`)).body).toEqual(before);
      }
      for (const body of [
        { agent_binding: { agent_id: agent } },
        { agent_binding: before['agent_binding'] },
        { agent },
        { agent: before['agent'] },
        { agent_id: agent, agent_version: '2' },
        before,
      ])
        expect(await patch(id, body)).toMatchObject({ status: 200, body: before });
      await act(id, 'pause');
      const bound = [other, agent, other, other, other];
      for (const [index, body] of rebinds.entries()) {
        expect(await patch(id, body), JSON.stringify(body)).toMatchObject({
          status: 200,
          body: { status: 'paused', agent: { type: 'agent', id: bound[index], version: 1 } },
        });
      }
      expect((await patch(id, { agent_id: null })).status).toBe(400);
      expect((await patch(id, { agent_id: 'agent_none' })).status).toBe(404);
      expect(await due()).toEqual([]);
    },
  );

  it('leaves a Schedule alone whose Agent is archived, but binds no archived one', async () => {
    const { id } = await make({ agent_config: { system: 'Be kind.' } });
    await call(`POST agents/${agent}/archive`);
    expect((await patch(id, { name: 'still there' })).status).toBe(200);
    await act(id, 'pause');
    const other = (await call('POST agents', { name: 'Other', model: 'acme/fast' })).body['id'];
    expect((await patch(id, { agent: other })).status).toBe(200);
    expect(await patch(id, { agent })).toMatchObject({
      status: 409,
      body: { type: 'agent_archived' },
    });
  });
});

describe('the states of a Schedule', () => {
  it(
    verifies(
      'deployments.pause',
      'deployments.unpause',
      'scheduler.pause-race',
      'take its row out of the index, and put it back for the next instant, never an earlier one',
    ),
    async () => {
      const { id } = await make({ schedule: DAILY });
      await dueAt('2026-11-21T05:00:00.000Z', id);
      const paused = await act(id, 'pause');
      expect(paused).toMatchObject({
        status: 200,
        body: { status: 'paused', paused_reason: { type: 'manual' }, version: 2 },
      });
      expect(paused.body['schedule'].upcoming_runs_at).toHaveLength(5);
      expect(await due()).toEqual([]);
      expect((await act(id, 'pause')).body).toEqual(paused.body);
      await patch(id, { schedule: { ...DAILY, expression: '30 6 * * *' } });
      expect(await due()).toEqual([]);
      resources.clock.advance(3 * 24 * 3_600_000);
      const unpaused = await act(id, 'unpause');
      expect(unpaused).toMatchObject({
        status: 200,
        body: { status: 'active', paused_reason: null, version: 4 },
      });
      await dueAt('2026-11-24T05:30:00.000Z', id);
      expect((await act(id, 'unpause')).body).toEqual(unpaused.body);
    },
  );

  it('lets a manual one be paused too, and says why one was paused by an error', async () => {
    const { id } = await make();
    expect((await act(id, 'pause')).body).toMatchObject({ status: 'paused', schedule: null });
    expect((await act(id, 'unpause')).body['status']).toBe('active');
    const definition = resources.repository.definitionOf(deployment.kind);
    const reason = { type: 'error', error: { type: 'agent_archived_error' } };
    const target = { definition, idOrName: id, organization: home };
    await resources.repository.note(target, async () => ({ state: { paused: reason } }));
    expect((await act(id, 'pause')).body).toMatchObject({
      status: 'paused',
      paused_reason: reason,
      version: 3,
    });
    expect((await act(id, 'unpause')).body).toMatchObject({ status: 'active', version: 4 });
  });

  it(
    verifies(
      'deployments.archive',
      'deployments.archive.state',
      'end with the archive, from any of them',
    ),
    async () => {
      for (const first of ['unpause', 'pause']) {
        const { id } = await make({ schedule: WEEKDAYS });
        await act(id, first);
        resources.clock.advance(1000);
        const archived = await act(id, 'archive');
        expect(archived).toMatchObject({
          status: 200,
          body: {
            status: 'archived',
            paused_reason: null,
            archived_at: new Date(resources.clock.now()).toISOString(),
            schedule: { last_run_at: null, upcoming_runs_at: [] },
          },
        });
        expect(await due()).toEqual([]);
        expect((await act(id, 'pause')).body).toEqual(archived.body);
        expect((await act(id, 'archive')).body).toEqual(archived.body);
        expect(await act(id, 'unpause')).toMatchObject({
          status: 409,
          body: { type: 'deployment_archived', retry: false },
        });
        expect((await patch(id, { name: 'x' })).status).toBe(409);
        expect((await call(`GET deployments/${id}`)).body).toEqual(archived.body);
      }
    },
  );

  it(
    verifies(
      'deployments.delete',
      'deployments.delete.eligible',
      'end with a deletion, which waits for a run that is not decided',
    ),
    async () => {
      const { id } = await make({ schedule: WEEKDAYS });
      const pending = pendingRunKey(id, 'drun_1');
      await resources.store.commit([{ type: 'put', key: pending, value: null }]);
      expect(await call(`DELETE deployments/${id}`)).toMatchObject({
        status: 409,
        body: { type: 'deployment_trigger_in_progress' },
      });
      await dueAt('2026-11-23T07:00:00.000Z', id);
      await resources.store.commit([{ type: 'delete', key: pending }]);
      expect(await call(`DELETE deployments/${id}`)).toMatchObject({
        status: 200,
        body: { id, deleted: true },
      });
      expect(await due()).toEqual([]);
      expect((await call(`GET deployments/${id}`)).status).toBe(404);
    },
  );

  it('keep the next instant unless the schedule itself is changed', async () => {
    const { id } = await make({ schedule: DAILY });
    resources.clock.advance(24 * 3_600_000);
    await patch(id, { name: 'late', schedule: { ...DAILY } });
    await dueAt('2026-11-21T05:00:00.000Z', id);
    await patch(id, { schedule: { ...DAILY, expression: '0 7 * * *' } });
    await dueAt('2026-11-22T06:00:00.000Z', id);
  });

  it('fire no instant twice when the clock was set back', async () => {
    const { id } = await make({ schedule: DAILY });
    const definition = resources.repository.definitionOf(deployment.kind);
    const target = { definition, idOrName: id, organization: home };
    const last_slot = Date.parse('2026-11-22T05:00:00Z');
    await resources.repository.note(target, async () => ({ state: { last_slot } }));
    await act(id, 'pause');
    const unpaused = await act(id, 'unpause');
    await dueAt('2026-11-23T05:00:00.000Z', id);
    expect(unpaused.body['schedule'].upcoming_runs_at[0]).toBe('2026-11-23T05:00:00.000Z');
  });
});

describe('the list of Schedules', () => {
  it(
    verifies('deployments.list', 'filters by Agent, status, time and archive, the newest first'),
    async () => {
      const other = (await call('POST agents', { name: 'Other', model: 'acme/fast' })).body['id'];
      const ids: string[] = [];
      for (const body of [{}, { agent_id: other }, {}, {}]) {
        ids.push((await make({ ...body, schedule: WEEKDAYS }))['id']);
        resources.clock.advance(60_000);
      }
      const [a, b, c, d] = ids as [string, string, string, string];
      await act(c, 'pause');
      await act(d, 'archive');
      const list = async (query: string) => {
        const { status, body } = await call('GET deployments', undefined, query);
        expect(status, query).toBe(200);
        expect(body['next_page']).toBeNull();
        return body['data'].map((one: { id: string }) => one.id);
      };
      expect(await list('')).toEqual([c, b, a]);
      expect(await list('include_archived=true')).toEqual([d, c, b, a]);
      expect(await list('status=active')).toEqual([b, a]);
      expect(await list('status=paused')).toEqual([c]);
      expect(await list('status=archived')).toEqual([d]);
      expect(await list(`agent_id=${other}`)).toEqual([b]);
      expect(await list('agent_id=agent_none')).toEqual([]);
      expect(await list('created_at[gte]=2026-11-21T00:01:00Z')).toEqual([c, b]);
      expect(await list('created_at[lte]=2026-11-21T00:01:00Z&status=active')).toEqual([b, a]);
      const first = await call('GET deployments', undefined, 'limit=2');
      expect(first.body['data'].map((one: { id: string }) => one.id)).toEqual([c, b]);
      const page = encodeURIComponent(first.body['next_page']);
      await make();
      expect(await list(`limit=2&page=${page}`)).toEqual([a]);
    },
  );
});
