import { describe, expect, it } from 'vitest';
import { changedFields, MASK } from '../../src/audit/changed-fields.ts';

describe('the changes of an audit entry', () => {
  it('name members by their paths, with old and new value', () => {
    const old = { name: 'a', routes: [{ weight: 1, provider: 'x' }], scopes: ['run'] };
    const next = { name: 'a', routes: [{ weight: 2, provider: 'x' }, { weight: 1 }], scopes: null };
    expect(changedFields(old, next)).toEqual([
      { path: 'routes[0].weight', old: 1, new: 2 },
      { path: 'routes[1].weight', old: null, new: 1 },
      { path: 'scopes', old: ['run'], new: null },
    ]);
  });

  it('show a creation and a removal by all that is there', () => {
    const members = { name: 'a', cap: null, limit: { day: '1.00' } };
    expect(changedFields(undefined, members)).toEqual([
      { path: 'name', old: null, new: 'a' },
      { path: 'limit.day', old: null, new: '1.00' },
    ]);
    expect(changedFields(members)).toEqual([
      { path: 'name', old: 'a', new: null },
      { path: 'limit.day', old: '1.00', new: null },
    ]);
  });

  it('mask secrets by the names of members, and within texts', () => {
    const next = {
      headers: { Authorization: 'Bearer abcdefgh', 'x-api-key': 'sk-abcdefghijklmnop' },
      mcp_servers: [{ url: 'https://me:pass@host/?token=abc&x=1', authorization_token: 'abc' }],
      system: 'Use sk-abcdefghijklmnopqrstuv to call',
      api_key_configured: true,
      max_output_tokens: 5,
    };
    const text = JSON.stringify(changedFields({}, next));
    for (const secret of ['abcdefgh', 'pass@', 'token=abc', 'sk-abc'])
      expect(text).not.toContain(secret);
    expect(text).toContain(MASK);
    expect(changedFields({}, next)).toContainEqual({
      path: 'max_output_tokens',
      old: null,
      new: 5,
    });
  });

  it('mask a secret of the object itself, and no member of what is named like one', () => {
    const next = { client_secret: 'abc', secret: { note: 'plain' } };
    expect(changedFields({}, next)).toEqual([
      { path: 'client_secret', old: null, new: MASK },
      { path: 'secret.note', old: null, new: 'plain' },
    ]);
  });

  it('stay of a bounded size', () => {
    const next = Object.fromEntries(
      Array.from({ length: 700 }, (_, n) => [`m${n}`, 'x'.repeat(9_000)]),
    );
    const changes = changedFields({}, next);
    expect(changes).toHaveLength(501);
    expect(changes.at(-1)?.new).toBe('200 more members changed');
    expect(String(changes[0]?.new)).toHaveLength(2_000);
  });
});
