import { describe, expect, it } from 'vitest';
import { makeResources } from '../make-resources.ts';

describe('a rename', () => {
  it('gives what refers to the resource by its name the new one, and notes it', async () => {
    const { call, repository } = makeResources();
    const { body: provider } = await call('POST providers', { body: { name: 'p', type: 'mock' } });
    const routes = [{ provider: 'p', weight: 2 }, { provider: provider['id'] }];
    await call('POST models', { body: { name: 'v/a', routes } });
    await call('POST models', { body: { name: 'v/b', fallbacks: ['v/a'] } });

    const renamed = await call('PATCH providers/p', { body: { name: 'q', expected_version: 1 } });
    expect(renamed).toMatchObject({ status: 200, body: { name: 'q', version: 2 } });
    expect((await call('GET models/v%2Fa')).body).toMatchObject({
      version: 2,
      routes: [{ provider: 'q', weight: 2 }, { provider: provider['id'] }],
    });
    await call('PATCH models/v%2Fa', { body: { name: 'v/c' } });
    expect((await call('GET models/v%2Fb')).body).toMatchObject({
      version: 2,
      fallbacks: ['v/c'],
    });

    const entries = await repository.store.list<{ action: string; object: { name: string } }>({
      prefix: ['audit'],
      limit: 100,
    });
    const updates = entries.filter(({ value }) => value.action === 'update');
    expect(updates.map(({ value }) => value.object.name)).toEqual(['q', 'v/a', 'v/c', 'v/b']);
    expect((await call('DELETE providers/q')).body['message']).toContain('used by model v/c');
  });

  it('is refused for more of them than one commit takes', async () => {
    const { call } = makeResources();
    await call('POST providers', { body: { name: 'p', type: 'mock' } });
    for (let i = 0; i < 250; i++)
      await call('POST models', { body: { name: `v/${i}`, routes: [{ provider: 'p' }] } });
    expect((await call('PATCH providers/p', { body: { name: 'q' } })).status).toBe(200);
    await call('POST models', { body: { name: 'v/x', routes: [{ provider: 'q' }] } });
    const refused = await call('PATCH providers/q', { body: { name: 'p' } });
    expect(refused).toMatchObject({ status: 409, body: { type: 'in_use' } });
    expect(refused.body['message']).toContain('a rename changes at most 250 others');
  });
});
