import { describe, expect, it } from 'vitest';
import {
  createMessagesModelGet,
  createMessagesModelsList,
} from '../../src/surfaces/messages-models.ts';
import { fakeModel } from '../support/catalog.ts';
import { codeOf } from '../usage/usage-fixtures.ts';
import { bodyOf, KEY, modelsDeps } from './model-requests.ts';

const MODELS = [
  ...['d', 'b', 'a', 'c'].map((id) => fakeModel(id, [])),
  fakeModel('b2', [], { type: 'image' }),
];

async function page(search = '', listing = {}) {
  const { deps, inFlight } = modelsDeps({ models: MODELS, ...listing });
  const body = (await bodyOf(createMessagesModelsList(deps), { search })) as {
    data: { id: string }[];
    has_more: boolean;
    first_id: string | null;
    last_id: string | null;
  };
  expect(inFlight()).toBe(0);
  return { ...body, data: body.data.map(({ id }) => id).join('') };
}

describe('the list of models for Messages clients', () => {
  it('shows each language model in their shape', async () => {
    const { deps } = modelsDeps({
      models: [fakeModel('a', [], { created: 60, displayName: 'A', maxOutputTokens: 7 })],
    });
    expect(await bodyOf(createMessagesModelsList(deps))).toHaveProperty('data', [
      {
        type: 'model',
        id: 'a',
        display_name: 'A',
        created_at: '1970-01-01T00:01:00.000Z',
        max_tokens: 7,
      },
    ]);
  });

  it.each([
    ['', 'abcd', false],
    ['?limit=4', 'abcd', false],
    ['?limit=3', 'abc', true],
    ['?limit=1000', 'abcd', false],
    ['?after_id=b', 'cd', false],
    ['?after_id=a&limit=2', 'bc', true],
    ['?before_id=c', 'ab', false],
    ['?before_id=d&limit=2', 'bc', true],
    ['?after_id=a&before_id=d&limit=1', 'b', true],
    ['?after_id=a&before_id=d', 'bc', false],
  ])('%s shows %s', async (search, ids, hasMore) => {
    expect(await page(search)).toEqual({
      data: ids,
      has_more: hasMore,
      first_id: ids[0],
      last_id: ids.at(-1),
    });
  });

  it('names no first and no last where it is empty', async () => {
    const empty = { data: '', has_more: false, first_id: null, last_id: null };
    expect(await page('?after_id=d')).toEqual(empty);
  });

  it.each(['0', '1001', '1.5', '-1', '1e2', 'x'])('refuses the limit %j', async (limit) => {
    await expect(page(`?limit=${limit}`)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'limit',
    });
  });

  it('shows a key what it may use, and takes it from every carrier', async () => {
    expect(await page('', { payer: { allowedModels: ['b*'] } })).toMatchObject({ data: 'b' });
    const { deps } = modelsDeps({ models: MODELS });
    const handler = createMessagesModelsList(deps);
    for (const name of ['x-api-key', 'x-goog-api-key'])
      expect(await codeOf(bodyOf(handler, { headers: { [name]: KEY } }))).toBe('fulfilled');
    expect(await codeOf(bodyOf(handler, { search: `?key=${KEY}`, headers: {} }))).toBe(
      'missing_api_key',
    );
  });
});

it('one model is shown in the same shape', async () => {
  const { deps, inFlight } = modelsDeps({ models: MODELS });
  const get = createMessagesModelGet(deps);
  expect(await bodyOf(get, { path: '/v1/models/b' })).toMatchObject({
    type: 'model',
    id: 'b',
    max_tokens: null,
  });
  expect(await codeOf(bodyOf(get, { path: '/v1/models/x' }))).toBe('model_not_found');
  expect(inFlight()).toBe(0);
});
