import { describe, expect, it } from 'vitest';
import {
  createGoogleModelGet,
  createGoogleModelsList,
} from '../../src/surfaces/generate-content-models.ts';
import { fakeModel, fakeRoute } from '../support/catalog.ts';
import { codeOf } from '../usage/usage-fixtures.ts';
import { bodyOf, KEY, modelsDeps } from './model-requests.ts';

const MODELS = ['c', 'a', 'b'].map((id) => fakeModel(id, []));

interface GooglePage {
  readonly models: { name: string }[];
  readonly nextPageToken?: string;
}

async function page(search = '', listing = {}): Promise<{ names: string; next?: string }> {
  const { deps, inFlight } = modelsDeps({ models: MODELS, ...listing });
  const body = (await bodyOf(createGoogleModelsList(deps), { search })) as GooglePage;
  expect(inFlight()).toBe(0);
  const names = body.models.map(({ name }) => name.replace('models/', '')).join('');
  return { names, ...(body.nextPageToken && { next: body.nextPageToken }) };
}

describe("the list of models for Google's clients", () => {
  it.each(['', '?pageSize=', '?pageSize=0', '?pageSize=3', '?pageSize=1000'])(
    'shows all in the order of their ids with %j',
    async (search) => {
      expect(await page(search)).toEqual({ names: 'abc' });
    },
  );

  it('goes on from page to page', async () => {
    const first = await page('?pageSize=2');
    expect(first).toEqual({ names: 'ab', next: 'Yg' });
    expect(await page(`?pageSize=2&pageToken=${first.next}`)).toEqual({ names: 'c' });
  });

  it('shows 1,000 on a page at most', async () => {
    const models = Array.from({ length: 1_001 }, (_, i) => fakeModel(String(i), []));
    expect(await page('?pageSize=2000', { models })).toHaveProperty('next');
    expect(await page('', { models })).not.toHaveProperty('next');
  });

  it.each(['x', '-1', '1.5', '-Infinity'])('refuses the size %s', async (size) => {
    await expect(page(`?pageSize=${size}`)).rejects.toMatchObject({
      code: 'invalid_request',
      param: 'pageSize',
    });
  });

  it('shows a key what it may use', async () => {
    expect(await page('', { payer: { allowedModels: ['b'] } })).toEqual({ names: 'b' });
  });

  it('takes keys from the places that these clients have', async () => {
    const { deps } = modelsDeps({ models: MODELS });
    const handler = createGoogleModelsList(deps);
    const code = (asked: object) => codeOf(bodyOf(handler, { headers: {}, ...asked }));
    expect(await code({ search: `?key=${KEY}` })).toBe('fulfilled');
    expect(await code({ headers: { 'x-goog-api-key': KEY } })).toBe('fulfilled');
    expect(await code({ headers: { 'x-api-key': KEY } })).toBe('missing_api_key');
  });
});

describe("one model for Google's clients", () => {
  const get = async (path: string, model = fakeModel('acme/a', []), payer = {}) => {
    const { deps, inFlight } = modelsDeps({ models: [model], payer });
    const handler = createGoogleModelGet(deps);
    return bodyOf(handler, { path: `/v1beta/models/${path}` }).finally(() =>
      expect(inFlight()).toBe(0),
    );
  };

  it('is found by a path that ends with a slash', async () => {
    expect(await get('acme/a/')).toEqual(await get('acme/a'));
  });

  it('is shown in their shape', async () => {
    const model = fakeModel('acme/a', [fakeRoute('t', { mapping: 'translated' })], {
      created: 7,
      displayName: 'A',
      description: 'told',
      maxOutputTokens: 8,
    });
    expect(await get('acme/a', model)).toEqual({
      name: 'models/acme/a',
      version: '7',
      displayName: 'A',
      description: 'told',
      outputTokenLimit: 8,
      supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
    });
  });

  it('leaves out what is not known, and methods that no route serves', async () => {
    expect(await get('acme%2Fa')).toEqual({
      name: 'models/acme/a',
      version: '1',
      displayName: 'acme/a',
      supportedGenerationMethods: [],
    });
  });

  it('is found by its bare name', async () => {
    expect(await get('a')).toMatchObject({ name: 'models/acme/a' });
    expect(await codeOf(get('b'))).toBe('model_not_found');
  });

  it('is not found with a key that may not use it by that name', async () => {
    const may = (asked: string, allowedModels: string[]) =>
      codeOf(get(asked, undefined, { allowedModels }));
    expect(await may('a', ['acme/a'])).toBe('fulfilled');
    expect(await may('a', ['other/*'])).toBe('model_not_found');
  });
});
