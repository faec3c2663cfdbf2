import { expect, it } from 'vitest';
import { makeResources } from './make-resources.ts';

it('a list of large resources ends its pages early and is whole over all of them', async () => {
  const resources = makeResources();
  const home = (await resources.call('POST organizations', { body: { name: 'home' } })).body['id'];
  const large = {
    type: 'custom',
    name: 'large',
    description: 'Has a large schema.',
    input_schema: { type: 'object', title: 'x'.repeat(300_000) },
  };
  const made: string[] = [];
  for (let index = 0; index < 11; index++) {
    const body = { name: `agent ${index}`, model: 'acme/fast', tools: [large] };
    const { body: agent } = await resources.call('POST agents', { body, organization: home });
    made.push(agent['id']);
  }
  for (const platform of [true, false]) {
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let page: string | null = ''; page !== null;) {
      const query = `limit=100&page=${encodeURIComponent(page)}`;
      const { body } = await resources.call('GET agents', { query, organization: home, platform });
      const ids: string[] = body['data'].map(({ id }: { id: string }) => id);
      sizes.push(ids.length);
      seen.push(...ids);
      page = body['next_page'];
    }
    expect(seen.sort()).toEqual([...made].sort());
    expect(Math.max(...sizes)).toBe(4);
  }
});
