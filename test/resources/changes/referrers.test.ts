import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { makeResources } from '../make-resources.ts';

async function setUp() {
  const { store: kept, clock } = makeResources();
  let rows = 0;
  const store: Store = {
    ...kept,
    async list(options) {
      const found = await kept.list(options);
      rows += found.length;
      return found as never;
    },
    async get(key) {
      rows += 1;
      return kept.get(key);
    },
  };
  const resources = makeResources({ store, clock });
  const send = async (request: string, body?: object) => {
    const { status, body: answer } = await resources.call(request, { body });
    return status < 300 ? 'done' : String(answer['message']);
  };
  /** Rows that a request reads. */
  const costOf = async (request: string, body?: object): Promise<number> => {
    rows = 0;
    expect(await send(request, body)).toBe('done');
    return rows;
  };
  return { resources, send, costOf };
}

describe('what refers to a resource', () => {
  it('is found by the same work with 10 models and with 129', async () => {
    const costs = async (size: number) => {
      const { send, costOf } = await setUp();
      for (let i = 0; i < size; i++) {
        await send('POST providers', { name: `p${i}`, type: 'mock' });
        await send('POST models', { name: `v/m${i}`, routes: [{ provider: `p${i}` }] });
      }
      // The first question reads everything.
      await send('DELETE models/v%2Fm0');
      return [
        await costOf('DELETE providers/p0'),
        await costOf('PATCH models/v%2Fm1', { name: 'v/other' }),
        await costOf('DELETE models/v%2Fm2'),
      ];
    };
    expect(await costs(129)).toEqual(await costs(10));
  }, 60_000);

  it('is known however it came about, also from another process', async () => {
    const { resources, send } = await setUp();
    const other = resources.other();
    for (const name of ['a', 'b']) await send('POST providers', { name, type: 'mock' });
    expect(await send('POST models', { name: 'v/m', routes: [{ provider: 'a' }] })).toBe('done');
    const isUsed = 'provider `a` cannot be deleted: it is used by model v/m';
    expect(await send('DELETE providers/a')).toBe(isUsed);
    await other.call('PATCH models/v%2Fm', { body: { routes: [{ provider: 'b' }] } });
    expect(await send('DELETE providers/b')).toBe(isUsed.replace('`a`', '`b`'));
    await other.call('PATCH models/v%2Fm', { body: { name: 'v/n', routes: [{ provider: 'a' }] } });
    expect(await send('DELETE providers/a')).toBe(isUsed.replace('v/m', 'v/n'));
    await other.call('DELETE models/v%2Fn');
    expect(await send('DELETE providers/a')).toBe('done');
    expect(await send('DELETE providers/b')).toBe('done');
  });

  it('is known by name and by id, and of models that are fallbacks', async () => {
    const { resources, send } = await setUp();
    const { body } = await resources.call('POST providers', { body: { name: 'p', type: 'mock' } });
    await send('POST models', { name: 'v/a', routes: [{ provider: body['id'] }] });
    await send('POST models', { name: 'v/b', routes: [{ provider: 'p' }], fallbacks: ['v/a'] });
    expect(await send('DELETE providers/p')).toContain('it is used by model v/a, model v/b');
    expect(await send('DELETE models/v%2Fa')).toContain('it is used by model v/b');
    expect(await send('DELETE models/v%2Fb')).toBe('done');
    expect(await send('DELETE models/v%2Fa')).toBe('done');
  });
});
