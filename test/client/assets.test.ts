import { describe, expect, it } from 'vitest';
import { connect, testCalls, without } from './support.ts';

const ASSET = {
  id: 'ast_1',
  asset_url: 'asset://ast_1',
  asset_type: 'image',
  name: null,
  created_at: '2026-11-21T10:00:00Z',
};
const DETAILS = { ...ASSET, external_id: 'x', status: 'ready', download_url: '' };

describe('assets', () => {
  testCalls([
    {
      name: 'create',
      call: ({ assets }, signal) =>
        assets.create({ url: 'https://acme.test/a.png', asset_type: 'image', name: 'a' }, signal),
      method: 'POST',
      target: '/v1/assets',
      body: { url: 'https://acme.test/a.png', asset_type: 'image', name: 'a' },
      answer: ASSET,
      refused: without(ASSET, 'id', 'asset_url', 'asset_type'),
    },
    {
      name: 'get',
      call: ({ assets }, signal) => assets.get('ast/1', signal),
      method: 'GET',
      target: '/v1/assets/ast%2F1',
      answer: DETAILS,
      refused: without(DETAILS, 'id', 'external_id', 'status', 'download_url'),
    },
  ]);

  it('fetches one by its reference', async () => {
    const { client, sent } = connect([DETAILS]);
    await client.assets.get('asset://ast_1');
    expect(sent.map(({ target }) => target)).toEqual(['/v1/assets/ast_1']);
  });
});
