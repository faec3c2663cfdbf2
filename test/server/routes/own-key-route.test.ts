import { describe, expect, it } from 'vitest';
import { ownKeyRoute } from '../../../src/server/routes/own-key-route.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import { makeResources } from '../../resources/make-resources.ts';
import { answerOf, keyring } from './handler-calls.ts';

async function setUp(of: Partial<Principal> = {}, resourceXApiKey = false) {
  const { call, repository } = makeResources();
  const { body } = await call('POST organizations', { body: { name: 'acme' } });
  const organizationId = String(body['id']);
  const keys = keyring({ organizationId, ...of });
  const { methods } = ownKeyRoute({ ...keys, repository, resourceXApiKey });
  const ask = (headers: Record<string, string> = {}) => answerOf(methods.GET, { headers });
  return { organizationId, inside: keys.inside, ask };
}

describe('the view of the own key', () => {
  it('tells whose it is', async () => {
    const { organizationId, inside, ask } = await setUp();
    expect(await ask()).toEqual({
      status: 200,
      body: {
        id: 'key_1',
        type: 'own_key',
        name: 'first',
        organization: { id: organizationId, name: 'acme' },
        scopes: null,
        role: null,
      },
    });
    expect(inside).toEqual({ now: 0, ever: 1 });
  });

  it('is open to every scope and role', async () => {
    const { ask } = await setUp({ scopes: new Set(['models', 'run']), role: 'billing' });
    expect(await ask()).toMatchObject({
      status: 200,
      body: { scopes: ['models', 'run'], role: 'billing' },
    });
    const nothing = await setUp({ scopes: new Set() });
    expect(await nothing.ask()).toMatchObject({ status: 200, body: { scopes: [] } });
  });

  it('takes the key from x-api-key only where that is switched on', async () => {
    const headers = { authorization: '', 'x-api-key': 'sk-1' };
    const off = await setUp();
    await expect(off.ask(headers)).rejects.toMatchObject({ code: 'missing_api_key' });
    const on = await setUp({}, true);
    expect(await on.ask(headers)).toMatchObject({ status: 200 });
    expect(await on.ask()).toMatchObject({ status: 200 });
  });

  it('is refused to a key that nobody knows', async () => {
    const { ask, inside } = await setUp();
    const headers = { authorization: 'Bearer sk-2' };
    await expect(ask(headers)).rejects.toMatchObject({ code: 'invalid_api_key' });
    expect(inside.ever).toBe(0);
  });

  it('gives the place in flight back where the organization is gone', async () => {
    const { ask, inside } = await setUp({ organizationId: 'org_gone' });
    await expect(ask()).rejects.toMatchObject({ code: 'not_found' });
    expect(inside).toEqual({ now: 0, ever: 1 });
  });
});
