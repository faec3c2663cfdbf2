import { beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { makeResources } from '../make-resources.ts';
import type { Resources } from '../make-resources.ts';

describe('the query of a list', () => {
  let resources: Resources;
  let call: Resources['call'];

  beforeEach(async () => {
    resources = makeResources();
    call = resources.call;
    const types = ['llm', 'image', 'video', 'llm'];
    for (const [index, type] of types.entries()) {
      await call('POST models', { body: { name: `m${index}`, type, enabled: index !== 3 } });
      resources.clock.advance(1000);
    }
  });

  const names = async (query: string): Promise<string[]> => {
    const { body } = await call('GET models', { query });
    return body['data'].map(({ name }: { name: string }) => name);
  };

  it(
    verifies('resource.query-and-time', 'means the same repeated, in brackets and with commas'),
    async () => {
      for (const query of [
        'model_type=image&model_type=video',
        'model_type[]=image&model_type[]=video',
        'model_type%5B%5D=video&model_type=image',
        'model_type=image,video',
      ]) {
        expect(await names(query), query).toEqual(['m1', 'm2']);
      }
      expect(await names('model_type=llm&enabled=true')).toEqual(['m0']);
    },
  );

  it(
    verifies(
      'resource.query-and-time',
      'bounds the time of creation, each bound with or without the instant',
    ),
    async () => {
      const at = '2026-11-21T00:00:01Z';
      expect(await names(`created_at[gt]=${at}`)).toEqual(['m2', 'm3']);
      expect(await names(`created_at[gte]=${at}`)).toEqual(['m1', 'm2', 'm3']);
      expect(await names(`created_at[lt]=${at}`)).toEqual(['m0']);
      expect(await names(`created_at[lte]=${at}`)).toEqual(['m0', 'm1']);
      const offset = encodeURIComponent('2026-11-21T01:00:02+01:00');
      expect(await names(`created_at[gt]=${at}&created_at[lte]=${offset}`)).toEqual(['m2']);
      const refused = await call('GET models', { query: 'created_at[gt]=yesterday' });
      expect(refused).toMatchObject({ status: 400, body: { param: 'created_at[gt]' } });
    },
  );

  it('goes on with a cursor when the same filters are written otherwise, and with another limit', async () => {
    const first = await call('GET models', {
      query: 'limit=1&model_type=video,image&enabled=true',
    });
    const page = first.body['next_page'];
    expect(first.body['data'][0]['name']).toBe('m1');
    const query = `enabled=true&model_type[]=image&model_type[]=video&limit=5&page=${page}`;
    expect(await names(query)).toEqual(['m2']);
    const other = await call('GET models', { query: `model_type=image&page=${page}` });
    expect(other.status).toBe(400);
  });

  it('goes on behind a resource that was deleted, with a key of another process', async () => {
    const { body } = await call('GET models', { query: 'limit=2' });
    await call('DELETE models/m1');
    const rest = await resources.other().call('GET models', { query: `page=${body['next_page']}` });
    expect(rest.body['data'].map(({ name }: { name: string }) => name)).toEqual(['m2', 'm3']);
    expect(rest.body['next_page']).toBeNull();
  });

  it('refuses cursors that were tampered with', async () => {
    const { next_page: page } = (await call('GET models', { query: 'limit=1' })).body;
    for (const bad of [`${page}!`, ` ${page}`, `${page}A`, page.slice(0, -3), page.toUpperCase()]) {
      const query = new URLSearchParams({ page: bad }).toString();
      expect((await call('GET models', { query })).status, bad).toBe(400);
    }
  });

  it('refuses a place that no resource can have', async () => {
    const { next_page: page } = (await call('GET models', { query: 'limit=1' })).body;
    const [list, id = ''] = Buffer.from(page, 'base64url').toString().split('.');
    const [prefix, rest] = id.split('_');
    for (const place of ['abc', `${prefix}_abc`, `${prefix}_${'x'.repeat(4_000)}_${rest}`]) {
      const forged = Buffer.from(`${list}.${place}`).toString('base64url');
      const answer = await call('GET models', { query: `page=${forged}` });
      expect(answer, place.slice(0, 20)).toMatchObject({ status: 400, body: { param: 'page' } });
    }
  });
});
