import { describe, expect, it } from 'vitest';
import { BASE, connect, failed, testCalls, testLists, without } from './support.ts';

const MODEL = {
  id: 'model_1',
  type: 'model',
  name: 'acme/one',
  version: 3,
  labels: {},
  created_at: '2026-11-21T10:00:00Z',
  updated_at: '2026-11-21T10:00:00Z',
};
const LACKING = without(MODEL, 'id', 'type');
const VERSION = { id: 'v1', type: 'skill_version' };
const MODELS = '/admin/v1/models';

describe('resources of a kind', () => {
  testCalls([
    {
      name: 'get',
      call: (client, signal) => client.admin('models').get('acme/one', signal),
      method: 'GET',
      target: `${MODELS}/acme%2Fone`,
      answer: MODEL,
      refused: LACKING,
    },
    {
      name: 'create',
      call: (client, signal) => client.admin('models').create({ name: 'acme/one' }, signal),
      method: 'POST',
      target: MODELS,
      body: { name: 'acme/one' },
      answer: MODEL,
      refused: LACKING,
    },
    {
      name: 'update',
      call: (client, signal) => client.admin('models').update('model_1', { labels: {} }, signal),
      method: 'PATCH',
      target: `${MODELS}/model_1`,
      body: { labels: {} },
      answer: MODEL,
      refused: LACKING,
    },
    {
      name: 'action',
      call: (client, signal) => client.admin('keys').action('key 1', 'revoke', signal),
      method: 'POST',
      target: '/admin/v1/keys/key%201/revoke',
      body: {},
      answer: MODEL,
      refused: LACKING,
    },
    {
      name: 'below one: post',
      call: (client, signal) =>
        client
          .admin('skills')
          .below('s/1')
          .post('versions', { json: { a: 1 } }, signal),
      method: 'POST',
      target: '/admin/v1/skills/s%2F1/versions',
      body: { a: 1 },
      answer: VERSION,
      refused: without(VERSION, 'id', 'type'),
    },
  ]);

  testLists([
    {
      name: 'list',
      call: (client, signal) => client.admin('models').list({ label: ['a=1', 'b=2'] }, signal),
      targets: [
        `${MODELS}?limit=100&label=a%3D1&label=b%3D2`,
        `${MODELS}?limit=100&label=a%3D1&label=b%3D2&page=p+2`,
      ],
      item: MODEL,
      refused: LACKING,
    },
    {
      name: 'below one: list',
      call: (client, signal) => client.admin('skills').below('s').list('versions', signal),
      targets: [
        '/admin/v1/skills/s/versions?limit=100',
        '/admin/v1/skills/s/versions?limit=100&page=p+2',
      ],
      item: VERSION,
      refused: without(VERSION, 'id', 'type'),
    },
  ]);

  it('are asked for in pages of the size that a caller wants', async () => {
    const { client, sent } = connect([{ data: [], next_page: null }]);
    await client.admin('models').list({ limit: 7 }).next();
    expect(sent.map(({ target }) => target)).toEqual([`${MODELS}?limit=7`]);
  });

  it('are created under the name that a caller gives the creation', async () => {
    const { client, sent } = connect([MODEL]);
    await client.admin('models').create({ name: 'acme/one' }, undefined, 'creation 1');
    await client.admin('models').create({ name: 'acme/one' });
    const names = sent.map(({ headers }) => new Headers(headers).get('idempotency-key'));
    expect(names).toEqual(['creation 1', null]);
  });

  it('give the bytes of what lies below them', async () => {
    const { client, sent } = connect([new Response('content')]);
    const bytes = await client.admin('files').below('file_1').bytes('content');
    expect(await new Response(bytes).text()).toBe('content');
    expect(sent).toMatchObject([{ method: 'GET', target: '/admin/v1/files/file_1/content' }]);
  });

  it('are deleted, also where an earlier try had done it', async () => {
    const { client, sent } = connect([failed(503), failed(404)]);
    await expect(client.admin('models').delete('model_1')).resolves.toBeUndefined();
    expect(sent.map(({ method, target }) => `${method} ${BASE}${target}`)).toEqual(
      Array<string>(2).fill(`DELETE ${BASE}${MODELS}/model_1`),
    );
  });
});
