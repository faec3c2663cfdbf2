import { beforeEach, describe, expect, it } from 'vitest';
import { RESOURCES } from '../../src/resources/registry.ts';
import { verifies } from '../requirements.ts';
import { dump, makeResources } from '../resources/make-resources.ts';
import type { Resources } from '../resources/make-resources.ts';

interface Sample {
  /** What must be there before; gives further members of a create. */
  prepare?(call: Resources['call']): Promise<Record<string, unknown>>;
  /** The least that a create needs. */
  body(name: string): Record<string, unknown>;
  /** A declared field, its default and another value. */
  field: { name: string; initial: unknown; next: unknown; wrongType: unknown };
  /** A write-only field with a value that must be found nowhere. */
  secret?: { field: string; value: string; toBody?(value: string): unknown };
}

const SAMPLES: Record<string, Sample> = {
  organization: {
    body: (name) => ({ name }),
    field: { name: 'display_name', initial: null, next: 'Acme', wrongType: 7 },
  },
  provider: {
    body: (name) => ({ name, type: 'mock' }),
    field: { name: 'stream_usage', initial: true, next: false, wrongType: 'yes' },
    secret: { field: 'api_key', value: 'canary-3b9d2f6c8e51' },
  },
  model: {
    body: (name) => ({ name }),
    field: { name: 'strategy', initial: 'priority', next: 'sticky', wrongType: 'random' },
  },
  alias: {
    body: (name) => ({ name, model: 'acme/fast' }),
    field: { name: 'enabled', initial: true, next: false, wrongType: 'yes' },
  },
  api: {
    body: (name) => ({ name, base_url: 'https://api.example/v1' }),
    field: { name: 'methods', initial: ['GET', 'POST'], next: ['GET'], wrongType: 'GET' },
    secret: { field: 'api_key', value: 'canary-7e1f4a9c2b60' },
  },
  api_key: {
    body: (name) => ({ name, organization: 'home' }),
    field: { name: 'rpm_cap', initial: null, next: 5, wrongType: '5' },
    secret: { field: 'value', value: 'sk-sb-canary-3b9d2f6c8e51' },
  },
  budget: {
    body: (name) => ({ name, organization: 'home', amount: 10, per: 'month' }),
    field: { name: 'on_exceed', initial: 'refuse', next: 'warn', wrongType: 7 },
  },
  agent: {
    body: (name) => ({ name, organization: 'home', model: 'acme/fast' }),
    field: { name: 'description', initial: null, next: 'Writes code.', wrongType: 7 },
  },
  credential: {
    prepare: makeAgent,
    body: (name) => ({
      name,
      organization: 'home',
      scope: 'mcp',
      scope_name: 'docs',
      secret_key: 'TOKEN',
      value: 'canary-1f7e0b2d9a64',
    }),
    field: { name: 'status', initial: 'active', next: 'disabled', wrongType: 'gone' },
    secret: { field: 'value', value: 'canary-5c8a3e6b7d90' },
  },
  skill: {
    body: (name) => ({
      name,
      organization: 'home',
      files: { 'SKILL.md': '---\nname: review\ndescription: Reviews code.\n---\nRead it.' },
    }),
    field: { name: 'display_name', initial: 'acme', next: 'Review', wrongType: 7 },
  },
  endpoint: {
    prepare: makeAgent,
    body: (name) => ({ name, organization: 'home', protocols: ['rest'] }),
    field: { name: 'status', initial: 'active', next: 'disabled', wrongType: 'paused' },
  },
  inventory: {
    body: (name) => ({ name }),
    field: {
      name: 'managed',
      initial: {},
      next: { model: '2026-01-01T00:00:00.000Z' },
      wrongType: 'model',
    },
  },
  deployment: {
    prepare: makeAgent,
    body: (name) => ({
      name,
      organization: 'home',
      initial_events: [{ type: 'user.message', content: [{ type: 'text', text: 'Go.' }] }],
      schedule: { type: 'cron', expression: '0 7 * * 1-5', timezone: 'Europe/Berlin' },
    }),
    field: { name: 'description', initial: null, next: 'Reports.', wrongType: 7 },
    secret: {
      field: 'notification_settings',
      value: 'https://hooks.slack.com/services/T0/B0/canary8c4d2e6f',
      toBody: (chat_webhook_url) => ({ chat_webhook_url }),
    },
  },
};

async function makeAgent(call: Resources['call']): Promise<Record<string, unknown>> {
  const body = { name: 'coder', organization: 'home', model: 'acme/fast' };
  return { agent_id: (await call('POST agents', { body })).body['id'] };
}

function sampleOf(kind: string): Sample {
  const sample = SAMPLES[kind];
  if (!sample) throw new Error(`no sample of the kind ${kind}`);
  return sample;
}

// A file is made of a form alone; its own tests say how.
const KINDS = RESOURCES.filter(({ kind }) => kind !== 'file');

describe.each(KINDS.map((definition) => [definition.collection, definition] as const))(
  'the resource kind %s',
  (collection, definition) => {
    const sample = sampleOf(definition.kind);
    const { field } = sample;
    const { unique = ['name'], versioned = false, newestFirst = false } = definition;
    const isNamed = unique.includes('name');
    const isWithin = definition.organizationScoped && definition.api !== undefined;
    let resources: Resources;
    let call: Resources['call'];
    let prepared: Record<string, unknown>;

    beforeEach(async () => {
      resources = makeResources();
      call = resources.call;
      await call('POST organizations', { body: { name: 'home' } });
      prepared = (await sample.prepare?.(call)) ?? {};
    });

    const bodyOf = (name: string): Record<string, unknown> => ({
      ...sample.body(name),
      ...prepared,
    });

    const make = async (name = 'acme') =>
      (await call(`POST ${collection}`, { body: bodyOf(name) })).body;

    it(verifies('admin.models.crud', 'creates with 201 and reads with 200'), async () => {
      const created = await call(`POST ${collection}`, { body: bodyOf('acme') });
      expect(created.status).toBe(201);
      expect(created.body).toMatchObject({
        type: definition.kind,
        name: 'acme',
        version: 1,
        labels: {},
        [field.name]: field.initial,
      });
      expect(created.body['id']).toMatch(new RegExp(`^${definition.idPrefix}_[0-9a-z]{26}$`));
      expect(created.body['created_at']).toBe('2026-11-21T00:00:00.000Z');
      const got = await call(`GET ${collection}/${created.body['id']}`);
      const { value: _shownOnce, ...view } = created.body;
      expect(got).toMatchObject({ status: 200, body: view });
      expect(Object.keys(got.body).sort()).toEqual(Object.keys(view).sort());
    });

    it('is listed, and found by its exact name in the list and in the path', async () => {
      const { id } = await make('acme');
      await make('acme-2');
      const list = await call(`GET ${collection}`, { query: 'name=acme' });
      expect(list.status).toBe(200);
      expect(list.body['data'].map((one: { id: string }) => one.id)).toEqual([id]);
      expect(list.body['next_page']).toBeNull();
      const home = (await call('GET organizations/home')).body['id'];
      const named = await call(`GET ${collection}/acme`, { organization: home });
      expect(named.body['id']).toBe(isNamed ? id : undefined);
    });

    it(
      verifies(
        'admin.models.crud',
        'changes with PATCH and with its alias POST, each one version on',
      ),
      async () => {
        const { id } = await make();
        resources.clock.advance(1000);
        const patched = await call(`PATCH ${collection}/${id}`, {
          body: { [field.name]: field.next, expected_version: 1 },
        });
        expect(patched.status).toBe(200);
        expect(patched.body).toMatchObject({ [field.name]: field.next, version: 2, name: 'acme' });
        expect(patched.body['updated_at']).toBe('2026-11-21T00:00:01.000Z');
        expect(patched.body['created_at']).toBe('2026-11-21T00:00:00.000Z');
        const posted = await call(`POST ${collection}/${id}`, {
          body: { labels: { team: 'a/b' } },
        });
        expect(posted).toMatchObject({
          status: 200,
          body: { labels: { team: 'a/b' }, [field.name]: field.next },
        });
        // Labels say nothing of what a versioned resource does.
        expect(posted.body['version']).toBe(versioned ? 2 : 3);
      },
    );

    it('leaves version and time alone when an update changes nothing', async () => {
      const created = await make();
      resources.clock.advance(5000);
      const { value: _shownOnce, ...view } = created;
      const same = await call(`PATCH ${collection}/${created['id']}`, { body: view });
      expect(same.body).toEqual(view);
    });

    it(
      verifies('admin.models.crud', 'refuses a change of another version than the one expected'),
      async () => {
        const { id } = await make();
        const body = { [field.name]: field.next, expected_version: 2 };
        const refused = await call(`PATCH ${collection}/${id}`, { body });
        expect(refused).toMatchObject({ status: 409, body: { code: 'conflict', retry: false } });
        expect((await call(`GET ${collection}/${id}`)).body['version']).toBe(1);
        const malformed = { ...body, expected_version: '1' };
        expect((await call(`PATCH ${collection}/${id}`, { body: malformed })).status).toBe(400);
      },
    );

    it('loses no update of many that are made at once', async () => {
      const { id } = await make();
      const other = resources.other();
      const names = Array.from({ length: 8 }, (_, index) => `label-${index}`);
      const map = definition.patched?.[0] ?? 'labels';
      const writes = names.map((label, index) =>
        (index % 2 ? other : resources).call(`PATCH ${collection}/${id}`, {
          body: { [map]: { [label]: 'x' } },
        }),
      );
      for (const { status } of await Promise.all(writes)) expect(status).toBe(200);
      const { body } = await call(`GET ${collection}/${id}`);
      expect(body['version']).toBe(9);
      if (map !== 'labels') expect(Object.keys(body[map]).sort()).toEqual(names);
    });

    it.runIf(isNamed)(
      'gives one name to one of them only, whoever asks at the same time',
      async () => {
        const other = resources.other();
        const replies = await Promise.all(
          [resources, other, resources, other].map((process) =>
            process.call(`POST ${collection}`, { body: bodyOf('acme') }),
          ),
        );
        const made = replies.filter(({ status }) => status === 201);
        const refused = replies.filter(({ status }) => status === 409);
        expect([made.length, refused.length]).toEqual([1, 3]);
        for (const { body } of refused) {
          expect(body['message']).toContain(made[0]?.body['id']);
          expect(body['retry']).toBe(false);
        }
      },
    );

    it.runIf(isNamed)(
      'refuses a rename to a name that is taken and frees the former name on a rename',
      async () => {
        const { id } = await make('one');
        await make('two');
        const taken = await call(`PATCH ${collection}/${id}`, { body: { name: 'two' } });
        expect(taken).toMatchObject({ status: 409, body: { param: 'name' } });
        const renamed = await call(`PATCH ${collection}/${id}`, { body: { name: 'three' } });
        expect(renamed).toMatchObject({ status: 200, body: { id, name: 'three' } });
        expect((await make('one'))['id']).toMatch(new RegExp(`^${definition.idPrefix}_`));
      },
    );

    it(
      verifies(
        'resource.body.unknown-fields',
        'ignores members that it does not know, and never shows them',
      ),
      async () => {
        const created = await call(`POST ${collection}`, {
          body: { ...bodyOf('acme'), from_the_future: 1 },
        });
        expect(created.status).toBe(201);
        const patched = await call(`PATCH ${collection}/${created.body['id']}`, {
          body: { from_the_future: 2 },
        });
        expect(patched).toMatchObject({ status: 200, body: { version: 1 } });
        expect(JSON.stringify([created, patched])).not.toContain('from_the_future');
      },
    );

    it('answers 400 to wrong types and missing fields, naming the field', async () => {
      const wrong = { ...bodyOf('acme'), [field.name]: field.wrongType };
      expect(await call(`POST ${collection}`, { body: wrong })).toMatchObject({
        status: 400,
        body: { code: 'invalid_request', param: field.name },
      });
      const { name: _name, ...nameless } = bodyOf('acme');
      const isOptional = definition.fields.shape['name'].safeParse(undefined).success;
      const missing = isOptional ? [] : [nameless];
      for (const body of [...missing, { ...nameless, name: '  ' }, { ...nameless, name: 7 }]) {
        expect(await call(`POST ${collection}`, { body })).toMatchObject({
          status: 400,
          body: { param: 'name' },
        });
      }
      for (const text of ['', '{', '[]', '"x"', 'null']) {
        expect((await call(`POST ${collection}`, { body: Buffer.from(text) })).status).toBe(400);
      }
      expect((await call(`GET ${collection}`, { query: 'name=acme' })).body['data']).toEqual([]);
    });

    it('answers 422 to a name with control characters', async () => {
      const body = bodyOf('ac\u0007me');
      expect(await call(`POST ${collection}`, { body })).toMatchObject({
        status: 422,
        body: { code: 'unprocessable', param: 'name' },
      });
    });

    it('answers 404 to what does not exist, however it is spelled', async () => {
      for (const id of [`${definition.idPrefix}_00`, 'nobody', '%00', 'x'.repeat(5000)]) {
        for (const method of ['GET', 'PATCH', ...(definition.deletable ? ['DELETE'] : [])]) {
          expect((await call(`${method} ${collection}/${id}`)).status, `${method} ${id}`).toBe(404);
        }
      }
      const { id } = await make();
      expect((await call(`POST ${collection}/${id}/no-such-action`)).status).toBe(404);
      expect((await call(`GET ${collection}/${id}/a/b`)).status).toBe(404);
    });

    it('answers 405 with the methods that there are', async () => {
      const { id } = await make();
      expect(await call(`DELETE ${collection}`)).toMatchObject({
        status: 405,
        headers: { allow: 'GET, HEAD, POST' },
      });
      const one = [
        'GET',
        'HEAD',
        'PATCH',
        'POST',
        ...(definition.deletable ? ['DELETE'] : []),
      ].join(', ');
      expect(await call(`PUT ${collection}/${id}`)).toMatchObject({
        status: 405,
        headers: { allow: one },
      });
    });

    it.runIf(definition.deletable)(
      verifies('admin.models.crud', 'deletes with a receipt and frees the name'),
      async () => {
        const { id } = await make();
        expect(await call(`DELETE ${collection}/${id}`)).toMatchObject({
          status: 200,
          body: { id, type: `${definition.kind}_deleted`, deleted: true },
        });
        expect((await call(`GET ${collection}/${id}`)).status).toBe(404);
        expect((await call(`DELETE ${collection}/${id}`)).status).toBe(404);
        expect((await make())['id']).not.toBe(id);
      },
    );

    it(
      verifies(
        'resource.pagination.complete',
        'lists many objects each exactly once while others come and go',
      ),
      async () => {
        const kept = new Set<string>();
        for (let i = 0; i < 22; i++) {
          kept.add((await make(`kept-${i}`))['id'] as string);
          if (i % 4 === 0) resources.clock.advance(1);
        }
        const seen: string[] = [];
        const gone = new Set<string>();
        let page: string | null = '';
        for (let i = 0; page !== null; i++) {
          const { body } = await resources.other().call(`GET ${collection}`, {
            query: `limit=4&page=${encodeURIComponent(page)}`,
          });
          expect(Object.keys(body).sort()).toEqual(['data', 'next_page']);
          seen.push(...body['data'].map((one: { id: string }) => one.id));
          page = body['next_page'];
          resources.clock.advance(1);
          await make(`later-${i}`);
          const passing = [...kept].find((id) => seen.includes(id) && !gone.has(id));
          if (!definition.deletable || !passing) continue;
          gone.add(passing);
          await call(`DELETE ${collection}/${passing}`);
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect([...kept].filter((id) => !seen.includes(id))).toEqual([]);
        const oldestFirst = [...seen].sort();
        expect(seen).toEqual(newestFirst ? oldestFirst.reverse() : oldestFirst);
      },
    );

    it('takes 20 by default, caps at 100 and refuses what is no limit or cursor of it', async () => {
      // The cap is read in one place for all kinds: one of them has more objects than it.
      const made = definition.kind === 'model' ? 101 : 21;
      for (let i = 0; i < made; i++) await make(`n-${i}`);
      const count = async (query: string) =>
        (await call(`GET ${collection}`, { query })).body['data'].length as number;
      expect(await count('')).toBe(20);
      expect(await count('limit=3')).toBe(3);
      if (made > 100) expect(await count('limit=100000')).toBe(100);
      for (const limit of ['0', '-1', '1.5', 'ten', '1e2']) {
        expect((await call(`GET ${collection}`, { query: `limit=${limit}` })).status, limit).toBe(
          400,
        );
      }
      const page = (await call(`GET ${collection}`, { query: 'limit=1' })).body['next_page'];
      const elsewhere = collection === 'models' ? 'providers' : 'models';
      const foreign = await call(`GET ${elsewhere}`, { query: `page=${page}` });
      expect(foreign).toMatchObject({ status: 400, body: { param: 'page' } });
      const otherQuery = await call(`GET ${collection}`, { query: `page=${page}&q=n-1` });
      expect(otherQuery.status).toBe(400);
      const long = Buffer.from(Buffer.from(page, 'base64url').toString() + 'x'.repeat(4000));
      for (const bad of ['x', '%%%', page.slice(2), long.toString('base64url')]) {
        const query = new URLSearchParams({ page: bad }).toString();
        expect((await call(`GET ${collection}`, { query })).status, bad.slice(0, 20)).toBe(400);
      }
    });

    it.runIf(isWithin)(
      verifies('resource.org-isolation', 'is not there for the keys of another organization'),
      async () => {
        const home = (await call('GET organizations/home')).body['id'];
        const other = (await call('POST organizations', { body: { name: 'other' } })).body['id'];
        const own = { organization: home, platform: false };
        const foreign = { organization: other, platform: false };
        const { id } = await make();
        const there = await call(`GET ${collection}/${id}`, own);
        expect(there.status).toBe(200);
        expect(JSON.stringify(there.body)).not.toContain(home);
        const methods = ['GET', ...(definition.api?.changes === false ? [] : ['PATCH', 'POST'])];
        if (definition.deletable) methods.push('DELETE');
        const paths = methods.map((method) => `${method} ${collection}/${id}`);
        const actions = Object.keys(definition.actions ?? {});
        for (const action of actions) paths.push(`POST ${collection}/${id}/${action}`);
        if (versioned) paths.push(`GET ${collection}/${id}/versions`);
        for (const path of paths) {
          const absent = await call(path, foreign);
          const unknown = await call(path.replace(id, `${definition.idPrefix}_00`), foreign);
          expect([absent.status, absent.body], path).toEqual([unknown.status, unknown.body]);
          expect(absent.status, path).toBe(404);
        }
        const listed = await call(`GET ${collection}`, foreign);
        expect(listed).toMatchObject({ status: 200, body: { data: [] } });
        expect((await call(`GET ${collection}`, own)).body['data']).toHaveLength(1);
        expect((await call(`GET ${collection}/${id}`, own)).body).toEqual(there.body);
      },
    );

    it.runIf(isWithin)('makes no resource for another owner, whatever the body says', async () => {
      const other = (await call('POST organizations', { body: { name: 'other' } })).body['id'];
      const body = { ...bodyOf('acme'), organization: 'home' };
      const made = await call(`POST ${collection}`, { body, organization: other, platform: false });
      if (made.status !== 201) expect(made.status).toBe(404);
      const home = (await call('GET organizations/home')).body['id'];
      const listed = await call(`GET ${collection}`, { organization: home, platform: false });
      expect(listed.body['data']).toEqual([]);
    });

    it.runIf(definition.archivable)(
      'is archived once and for all, and stays readable',
      async () => {
        const { id } = await make('first');
        const { id: second } = await make('second');
        expect((await call(`GET ${collection}/${id}`)).body['archived_at']).toBeNull();
        resources.clock.advance(1000);
        const archived = await call(`POST ${collection}/${id}/archive`);
        expect(archived).toMatchObject({
          status: 200,
          body: { id, archived_at: '2026-11-21T00:00:01.000Z' },
        });
        resources.clock.advance(1000);
        expect((await call(`POST ${collection}/${id}/archive`)).body).toEqual(archived.body);
        expect((await call(`GET ${collection}/${id}`)).body).toEqual(archived.body);
        const change = await call(`PATCH ${collection}/${id}`, {
          body: { [field.name]: field.next },
        });
        expect(change).toMatchObject({ status: 409, body: { retry: false } });
        const ids = async (query: string) =>
          (await call(`GET ${collection}`, { query })).body['data'].map((one: any) => one.id);
        expect(await ids('')).toEqual([second]);
        const all = newestFirst ? [second, id] : [id, second];
        expect(await ids('include_archived=true')).toEqual(all);
        expect((await call(`GET ${collection}`, { query: 'include_archived=1' })).status).toBe(400);
      },
    );

    it.runIf(sample.secret)(
      verifies(
        'store.secrets.encrypted',
        'store.keys.hashed',
        'keeps what is write-only out of every view, list and stored value',
      ),
      async () => {
        const { field: secret, value, toBody = (text: string) => text } = sample.secret!;
        const body = { ...bodyOf('acme'), [secret]: toBody(value) };
        const created = await call(`POST ${collection}`, { body });
        expect(created.status).toBe(201);
        const views = [
          await call(`GET ${collection}/${created.body['id']}`),
          await call(`GET ${collection}`),
          await call(`PATCH ${collection}/${created.body['id']}`, {
            body: { [field.name]: field.next },
          }),
        ];
        expect(JSON.stringify(views)).not.toContain(value);
        const stored = await dump(resources.store);
        expect(stored).toContain('acme');
        for (const encoded of [value, Buffer.from(value).toString('base64url').slice(0, -2)]) {
          expect(stored).not.toContain(encoded);
        }
      },
    );
  },
);
