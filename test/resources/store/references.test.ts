import { beforeEach, describe, expect, it } from 'vitest';
import type { Op } from '../../../src/store/store.ts';
import { openMemoryStore } from '../../../src/store/backends/memory/open-memory-store.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { makeResources } from '../make-resources.ts';
import type { Resources } from '../make-resources.ts';

describe('references between resources', () => {
  let resources: Resources;
  let call: Resources['call'];
  /** Runs once, just before the next commit: what another process does in that very moment. */
  let meanwhile: (() => Promise<unknown>) | undefined;

  beforeEach(async () => {
    const clock = createFakeClock();
    const store = openMemoryStore(clock);
    const commit = async (ops: readonly Op[]) => {
      const act = meanwhile;
      meanwhile = undefined;
      await act?.();
      return store.commit(ops);
    };
    resources = makeResources({ store: { ...store, commit }, clock });
    call = resources.call;
    await call('POST providers', { body: { name: 'up', type: 'mock' } });
  });

  const model = (name: string, rest: object = {}) =>
    call('POST models', { body: { name, ...rest } });
  const to = (provider: string) => ({ routes: [{ provider }] });

  it('must lead somewhere: an unknown one is 404 and names its place', async () => {
    expect(await model('m', { routes: [{ provider: 'up' }, { provider: 'down' }] })).toMatchObject({
      status: 404,
      body: { code: 'not_found', param: 'routes[1].provider' },
    });
    expect(await model('m', { fallbacks: ['none'] })).toMatchObject({
      status: 404,
      body: { param: 'fallbacks[0]' },
    });
    expect((await call('GET models')).body['data']).toEqual([]);
  });

  it('keep what they name from being deleted, and say who holds it', async () => {
    await model('a', to('up'));
    await model('b', { fallbacks: ['a'] });
    for (const [request, user] of [
      ['DELETE providers/up', 'model a'],
      ['DELETE models/a', 'model b'],
    ] as const) {
      const refused = await call(request);
      expect(refused).toMatchObject({ status: 409, body: { type: 'in_use', retry: false } });
      expect(refused.body['message']).toContain(user);
    }
    await call('PATCH models/a', { body: { routes: [] } });
    expect((await call('DELETE providers/up')).status).toBe(200);
  });

  it('by id outlive a rename and still prevent a removal', async () => {
    const { id } = (await call('GET providers/up')).body;
    await model('a', to(id));
    expect((await call('PATCH providers/up', { body: { name: 'down' } })).status).toBe(200);
    expect((await call('DELETE providers/down')).status).toBe(409);
    const { id: owner } = (await call('POST organizations', { body: { name: 'home' } })).body;
    await call('POST keys', { body: { name: 'k', organization: 'home' } });
    expect((await call('PATCH organizations/home', { body: { name: 'moved' } })).status).toBe(200);
    expect((await call(`DELETE organizations/${owner}`)).status).toBe(409);
  });

  it('name a few of many users in the message', async () => {
    for (let i = 0; i < 13; i++) await model(`m${i}`, to('up'));
    const { body } = await call('DELETE providers/up');
    expect(body['message']).toMatch(/, 3 more$/);
  });

  it('never dangle when what they name is deleted in the same moment', async () => {
    meanwhile = () => call('DELETE providers/up');
    expect((await model('m', to('up'))).status).toBe(404);
    await call('POST providers', { body: { name: 'up', type: 'mock' } });
    meanwhile = () => model('m', to('up'));
    expect((await call('DELETE providers/up')).status).toBe(409);
    expect((await call('GET providers/up')).status).toBe(200);
  });

  it('never dangle when what they name is renamed in the same moment', async () => {
    meanwhile = () => model('m', to('up'));
    expect((await call('PATCH providers/up', { body: { name: 'down' } })).status).toBe(200);
    expect((await call('GET models/m')).body['routes']).toMatchObject([{ provider: 'down' }]);
  });

  it('hold an organization while its key is being made', async () => {
    await call('POST organizations', { body: { name: 'home' } });
    meanwhile = () => call('DELETE organizations/home');
    const refused = await call('POST keys', { body: { name: 'k', organization: 'home' } });
    expect(refused).toMatchObject({ status: 404, body: { param: 'organization' } });
    expect((await call('GET keys')).body['data']).toEqual([]);
  });

  it('of a model to itself, straight or in a circle, are refused with 422', async () => {
    expect((await model('a', { fallbacks: ['a'] })).status).toBe(422);
    const { id } = (await model('a')).body;
    await model('b', { fallbacks: ['a'] });
    await model('c', { fallbacks: ['b'] });
    for (const target of ['a', id, 'b', 'c']) {
      const refused = await call('PATCH models/a', { body: { fallbacks: [target] } });
      expect(refused, target).toMatchObject({ status: 422, body: { param: 'fallbacks[0]' } });
    }
    const { body } = await call('PATCH models/a', { body: { fallbacks: ['c'] } });
    expect(body['message']).toContain('a → c → b → a');
    expect((await model('d', { fallbacks: ['c', 'b', 'a'] })).status).toBe(201);
  });

  it('close no circle when two changes far apart in it are made at once', async () => {
    await model('a');
    await model('c');
    await model('b');
    await call('PATCH models/a', { body: { fallbacks: ['b'] } });
    meanwhile = () => call('PATCH models/b', { body: { fallbacks: ['c'] } });
    const closing = await call('PATCH models/c', { body: { fallbacks: ['a'] } });
    expect(closing.status).toBe(422);
    expect((await call('GET models/b')).body['fallbacks']).toEqual(['c']);
  });

  it('are no obstacle to many changes at once', async () => {
    const writes = Array.from({ length: 40 }, (_, index) => model(`m${index}`, to('up')));
    const touch = call('PATCH providers/up', { body: { stream_usage: false } });
    for (const { status } of await Promise.all(writes)) expect(status).toBe(201);
    expect((await touch).status).toBe(200);
  });
});
