import { beforeEach, describe, expect, it } from 'vitest';
import { makeResources } from '../make-resources.ts';
import type { Resources } from '../make-resources.ts';

describe('the repository', () => {
  let resources: Resources;
  let call: Resources['call'];

  beforeEach(() => {
    resources = makeResources();
    call = resources.call;
  });

  it('lets exactly one of many updates that expect one version through', async () => {
    await call('POST providers', { body: { name: 'up', type: 'mock' } });
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        (index % 2 ? resources : resources.other()).call('PATCH providers/up', {
          body: { labels: { writer: `${index}` }, expected_version: 1 },
        }),
      ),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const { body } of replies.filter(({ status }) => status !== 200)) {
      expect(body).toMatchObject({ code: 'conflict', type: 'version_conflict', retry: false });
    }
    expect((await call('GET providers/up')).body['version']).toBe(2);
  });

  it('serves fifty writers of one resource', async () => {
    await call('POST organizations', { body: { name: 'home' } });
    const writes = Array.from({ length: 50 }, (_, index) =>
      call('PATCH organizations/home', { body: { display_name: `${index}` } }),
    );
    for (const { status } of await Promise.all(writes)) expect(status).toBe(200);
    expect((await call('GET organizations/home')).body['version']).toBe(51);
  });

  it('takes two equal renames at once for one', async () => {
    const { id } = (await call('POST organizations', { body: { name: 'home' } })).body;
    const rename = () => call(`PATCH organizations/${id}`, { body: { name: 'moved' } });
    for (const reply of await Promise.all([rename(), rename(), rename()])) {
      expect(reply).toMatchObject({ status: 200, body: { id, name: 'moved', version: 2 } });
    }
  });

  it('deletes amid a stream of other changes', async () => {
    for (let i = 0; i < 10; i++) await call('POST models', { body: { name: `old-${i}` } });
    const changes = Array.from({ length: 10 }, (_, i) => [
      call('POST models', { body: { name: `new-${i}` } }),
      call(`DELETE models/old-${i}`),
    ]).flat();
    for (const { status } of await Promise.all(changes)) expect([200, 201]).toContain(status);
    const { data } = (await call('GET models')).body;
    expect(data.map(({ name }: { name: string }) => name).sort()).toEqual(
      Array.from({ length: 10 }, (_, i) => `new-${i}`),
    );
  });

  it('opens no secret that was moved to another resource', async () => {
    const definition = resources.repository.definitionOf('provider');
    for (const name of ['one', 'two'])
      await call('POST providers', { body: { name, type: 'openai', api_key: name } });
    const found = (name: string) =>
      resources.repository.find(definition, name, { organization: null });
    const moved = { ...(await found('one'))!, sealed: (await found('two'))!.sealed };
    expect(() => resources.repository.reveal(moved, 'api_key')).toThrow(/the store is damaged/);
  });

  it('answers that there is no action of a name that objects happen to have', async () => {
    await call('POST organizations', { body: { name: 'home' } });
    const { id } = (await call('POST keys', { body: { name: 'k', organization: 'home' } })).body;
    for (const action of ['constructor', 'toString', 'valueOf', '__proto__', 'hasOwnProperty']) {
      expect((await call(`POST keys/${id}/${action}`)).status, action).toBe(404);
    }
    expect(await call(`GET keys/${id}/revoke`)).toMatchObject({
      status: 405,
      headers: { allow: 'POST' },
    });
    expect((await call(`GET keys/${id}`)).body).toMatchObject({ version: 1, enabled: true });
  });

  it('makes a key that is asked for disabled revoked from the start', async () => {
    await call('POST organizations', { body: { name: 'home' } });
    const body = { name: 'k', organization: 'home', enabled: false };
    expect(await call('POST keys', { body })).toMatchObject({
      status: 201,
      body: { enabled: false, version: 1 },
    });
    const malformed = { name: 'l', organization: 'home', enabled: 'no' };
    expect((await call('POST keys', { body: malformed })).status).toBe(400);
  });

  it('refuses providers that no request could reach, and takes the key later', async () => {
    const create = (body: object) => call('POST providers', { body: { name: 'up', ...body } });
    expect(await create({ type: 'opena' })).toMatchObject({ status: 400, body: { param: 'type' } });
    expect((await create({ type: 'custom' })).body['param']).toBe('base_url');
    expect((await create({ type: 'custom', base_url: 'ftp://x' })).status).toBe(422);
    const withLogin = { type: 'custom', base_url: 'https://me:pass@example.test' };
    expect((await create(withLogin)).body['param']).toBe('base_url');
    expect((await create({ type: 'openai', api_key: 'two\nlines' })).body['param']).toBe('api_key');
    expect((await create({ type: 'openai', headers: { 'x-a': 'b\r\nc: d' } })).status).toBe(400);
    expect((await call('GET providers')).body['data']).toEqual([]);
    expect((await create({ type: 'openai' })).status).toBe(201);
    const worse = await call('PATCH providers/up', { body: { provider_type: 'nothing' } });
    expect(worse).toMatchObject({ status: 400, body: { param: 'type' } });
  });
});
