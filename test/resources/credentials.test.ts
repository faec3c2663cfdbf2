import { beforeEach, describe, expect, it } from 'vitest';
import {
  reportCredential,
  selectCredential,
  selectCredentials,
} from '../../src/resources/kinds/select-credential.ts';
import { verifies } from '../requirements.ts';
import { dump, makeResources } from './make-resources.ts';
import type { Resources } from './make-resources.ts';

let resources: Resources;
let home: string;
let agent: string;

beforeEach(async () => {
  resources = makeResources();
  home = (await resources.call('POST organizations', { body: { name: 'home' } })).body['id'];
  agent = (await call('POST agents', { name: 'Coder', model: 'acme/fast' })).body['id'];
});

const call = (request: string, body?: unknown) =>
  resources.call(request, { body, organization: home, platform: false });

const VALUE = 'canary-9d3e51c07b2f';
const bodyOf = (more: object = {}) => ({
  agent_id: agent,
  scope: 'mcp',
  scope_name: 'docs',
  secret_key: 'TOKEN',
  value: VALUE,
  ...more,
});

const make = async (more: object = {}) =>
  (await call('POST credentials', bodyOf(more))).body['data'];
const get = async (id: string) => (await call(`GET credentials/${id}`)).body['data'];

describe('a Credential', () => {
  it(
    verifies(
      'credentials.envelope',
      'credentials.create.group-key-default',
      'credentials.value-hint.masked',
      'is answered in an envelope, with a group and a masked hint',
    ),
    async () => {
      const created = await call('POST credentials', bodyOf());
      expect(created).toMatchObject({ status: 201, body: { code: 0, message: 'ok' } });
      expect(Object.keys(created.body).sort()).toEqual(['code', 'data', 'message']);
      expect(created.body['data']).toEqual({
        id: expect.stringMatching(/^sec_/),
        type: 'credential',
        name: 'docs:TOKEN',
        agent_id: agent,
        scope: 'mcp',
        scope_name: 'docs',
        secret_key: 'TOKEN',
        group_key: 'docs:TOKEN',
        strategy: 'round_robin',
        weight: 1,
        status: 'active',
        value_hint: 'can…b2f',
        failure_count: 0,
        cooldown_until: null,
        labels: {},
        created_at: '2026-11-21T00:00:00.000Z',
        updated_at: '2026-11-21T00:00:00.000Z',
      });
      const hintOf = async (value: string) => (await make({ value }))['value_hint'];
      expect(await hintOf('elevenchars')).toBe('…');
      expect(await hintOf('twelve-chars')).toBe('tw…rs');
      expect(await hintOf('x'.repeat(10) + 'y'.repeat(100))).toBe('xxxx…yyyy');
      expect((await make({ group_key: 'own' }))['group_key']).toBe('own');
    },
  );

  it(
    verifies(
      'credentials.create.required',
      'credentials.create.trim',
      'credentials.create.control-chars',
      'credentials.create.strategy-weight',
      'is refused without what it needs, and keeps texts without the space around them',
    ),
    async () => {
      for (const field of ['agent_id', 'scope', 'scope_name', 'secret_key', 'value']) {
        const refused = await call('POST credentials', bodyOf({ [field]: undefined }));
        expect([refused.status, refused.body['param']]).toEqual([400, field]);
        const empty = await call('POST credentials', bodyOf({ [field]: '' }));
        expect([empty.status, empty.body['param']]).toEqual([400, field]);
      }
      for (const field of ['scope', 'scope_name', 'secret_key']) {
        const blank = await call('POST credentials', bodyOf({ [field]: ' \t\n' }));
        expect([blank.status, blank.body['param']]).toEqual([400, field]);
        for (const character of ['\u0000', '\n', '\u007f', '\u0085']) {
          const body = bodyOf({ [field]: `a${character}b` });
          expect((await call('POST credentials', body)).status).toBe(422);
        }
      }
      for (const weight of [0, -1, 1.5, '1', null]) {
        expect((await call('POST credentials', bodyOf({ weight }))).status).toBe(400);
      }
      for (const strategy of ['random', '', null, 7]) {
        expect((await call('POST credentials', bodyOf({ strategy }))).status).toBe(400);
      }
      expect((await call('GET credentials')).body['data']).toEqual([]);
      const made = await make({ scope: '  mcp ', scope_name: '\tdocs', secret_key: 'TOKEN \n' });
      expect(made).toMatchObject({
        scope: 'mcp',
        scope_name: 'docs',
        secret_key: 'TOKEN',
        group_key: 'docs:TOKEN',
      });
    },
  );

  it('is for an Agent of the organization that is not archived', async () => {
    expect((await call('POST credentials', bodyOf({ agent_id: 'agent_x' }))).status).toBe(404);
    const { id } = await make();
    await call(`POST agents/${agent}/archive`);
    expect((await call('POST credentials', bodyOf())).status).toBe(409);
    expect((await call(`PATCH credentials/${id}`, { weight: 2 })).status).toBe(200);
  });

  it(
    verifies('credentials.list-get', 'is listed with all others, disabled ones included'),
    async () => {
      const ids: string[] = [];
      for (let n = 0; n < 120; n++) ids.push((await make())['id']);
      await call(`PATCH credentials/${ids[0]}`, { status: 'disabled' });
      const { body } = await call('GET credentials');
      expect(body['data'].map((one: { id: string }) => one.id)).toEqual(ids);
      expect(JSON.stringify(body)).not.toContain(VALUE);
      expect(await get(ids[0]!)).toMatchObject({
        status: 'disabled',
        failure_count: 0,
        cooldown_until: null,
      });
    },
  );

  it(
    verifies(
      'credentials.patch.fields',
      'credentials.value.write-only',
      'credentials.no-delete',
      'changes its status, strategy and weight and nothing else, and cannot be deleted',
    ),
    async () => {
      const made = await make();
      const path = `credentials/${made['id']}`;
      const next = { status: 'disabled', strategy: 'round_robin', weight: 3 };
      expect((await call(`PATCH ${path}`, next)).body['data']).toMatchObject(next);
      expect((await call(`PATCH ${path}`, { status: 'active' })).body['data']).toMatchObject({
        status: 'active',
      });
      const kept = await get(made['id']);
      for (const body of [
        { value: 'new-canary-value' },
        { scope: 'other' },
        { scope_name: 'docs' },
        { group_key: 'x' },
        { agent_id: agent },
        { labels: {} },
        { from_the_future: 1 },
        { status: 'paused' },
        { weight: 0 },
        { strategy: 'random' },
      ]) {
        expect((await call(`PATCH ${path}`, body)).status, JSON.stringify(body)).toBe(400);
      }
      expect((await call(`DELETE ${path}`)).status).toBe(405);
      expect(await get(made['id'])).toEqual(kept);
      expect(await dump(resources.store)).not.toContain(VALUE);
    },
  );

  it(
    verifies('credentials.rotate', 'has a new secret after a rotation, and a clean record'),
    async () => {
      const { id } = await make({ weight: 2 });
      await call(`PATCH credentials/${id}`, { status: 'disabled' });
      await reportCredential({ organization: home, id, refused: true }, resources);
      const failed = await get(id);
      expect(failed).toMatchObject({ failure_count: 1 });
      for (const value of ['new-canary-value-123456789', VALUE]) {
        const rotated = await call(`POST credentials/${id}/rotate`, { value });
        expect(rotated.status).toBe(200);
        expect(JSON.stringify(rotated.body)).not.toContain(value);
      }
      expect(await get(id)).toMatchObject({
        id,
        value_hint: 'can…b2f',
        failure_count: 0,
        cooldown_until: null,
        status: 'disabled',
        weight: 2,
      });
      for (const body of [{}, { value: '' }, { value: 7 }, undefined]) {
        expect((await call(`POST credentials/${id}/rotate`, body)).status).toBe(400);
      }
      await call(`PATCH credentials/${id}`, { status: 'active' });
      expect((await select())?.value).toBe(VALUE);
    },
  );
});

const select = (groupKey = 'docs:TOKEN', from = resources) =>
  selectCredential({ organization: home, agentId: agent, groupKey }, from);

describe('the choice of a Credential', () => {
  it(
    verifies(
      'credentials.select.weighted',
      'gives each its weight of the turns of its group, over all processes',
    ),
    async () => {
      const { id: heavy } = await make({ weight: 2 });
      const { id: light } = await make({ weight: 1 });
      await make({ group_key: 'other', weight: 50 });
      const other = resources.other();
      const uses: (string | undefined)[] = [];
      for (let n = 0; n < 6; n++) {
        uses.push((await select('docs:TOKEN', n % 2 ? other : resources))?.id);
      }
      expect(uses.filter((id) => id === heavy)).toHaveLength(4);
      expect(uses.filter((id) => id === light)).toHaveLength(2);
      expect(uses.slice(0, 3)).toEqual(uses.slice(3));
      for (const weight of [7, 64, 1000]) {
        const group_key = `weight ${weight}`;
        const { id } = await make({ group_key, weight });
        await make({ group_key });
        let own = 0;
        for (let n = 0; n <= weight; n++) if ((await select(group_key))?.id === id) own++;
        expect(own).toBe(weight);
      }
    },
  );

  it(verifies('credentials.disabled.excluded', 'never falls on a disabled one'), async () => {
    const { id: first } = await make();
    const { id: second } = await make();
    await call(`PATCH credentials/${first}`, { status: 'disabled' });
    for (let n = 0; n < 4; n++) expect((await select())?.id).toBe(second);
    await call(`PATCH credentials/${second}`, { status: 'disabled' });
    expect(await select()).toBeUndefined();
  });

  it(
    verifies(
      'credentials.select.failure-cooldown',
      'leaves one that was refused alone, longer each time up to ten minutes',
    ),
    async () => {
      const { id: first } = await make();
      const { id: second } = await make();
      const refuse = () =>
        reportCredential({ organization: home, id: first, refused: true }, resources);
      const started = await get(first);
      let before = 0;
      for (let failures = 1; failures <= 8; failures++) {
        await refuse();
        await refuse();
        const { failure_count: count, cooldown_until: until } = await get(first);
        expect(count).toBe(failures);
        const wait = Date.parse(until) - resources.clock.now();
        expect(wait).toBeLessThanOrEqual(600_000);
        if (before < 600_000) expect(wait).toBeGreaterThan(before);
        before = wait;
        for (let n = 0; n < 3; n++) expect((await select())?.id).toBe(second);
        resources.clock.advance(wait);
        const both = [(await select())?.id, (await select())?.id];
        expect(new Set(both)).toEqual(new Set([first, second]));
      }
      expect(before).toBe(600_000);
      await reportCredential({ organization: home, id: first, refused: false }, resources);
      expect(await get(first)).toEqual(started);
    },
  );

  it('gives one of each group that is for a thing of an Agent', async () => {
    const { id: token } = await make();
    const { id: cookie } = await make({ secret_key: 'cookie', value: 'a=1; b=2; c=3' });
    await make({ scope_name: 'elsewhere' });
    const query = { organization: home, agentId: agent, scopeName: 'docs' };
    expect(await selectCredentials(query, resources)).toEqual([
      { id: token, groupKey: 'docs:TOKEN', name: 'TOKEN', value: VALUE },
      { id: cookie, groupKey: 'docs:cookie', name: 'cookie', value: 'a=1; b=2; c=3' },
    ]);
    const others = { ...query, organization: 'org_other' };
    expect(await selectCredentials(others, resources)).toEqual([]);
    expect(await selectCredentials({ ...query, agentId: 'agent_x' }, resources)).toEqual([]);
  });
});
