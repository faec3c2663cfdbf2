import { randomUUID } from 'node:crypto';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import Anthropic0 from 'anthropic-0';
import { GoogleGenAI as GoogleGenAI1 } from 'genai-1';
import { GoogleGenAI as GoogleGenAI2 } from 'genai-2';
import OpenAI from 'openai';
import OpenAI6 from 'openai-6';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { ask, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';

const NAMES = ['a/one', 'b/two', 'c/three'];
const models = NAMES.map((name) => ({
  name,
  routes: [{ provider: 'mock', upstream_model: 'echo' }],
}));
const resources = { providers: [{ name: 'mock', type: 'mock' }], models };

let open: TestGateway;
let strict: TestGateway;

beforeAll(async () => {
  const server = { compat: { model_lists: true } };
  [open, strict] = await Promise.all([
    startGateway({ ...resources, server }),
    startGateway(resources),
  ]);
});

afterAll(() => Promise.all([open.stop(), strict.stop()]));

const idsOf = async (list: AsyncIterable<{ id?: string; name?: string }>): Promise<string[]> => {
  const ids: string[] = [];
  for await (const { id, name } of list) ids.push(id ?? name ?? '');
  return ids;
};

/** Lists and finds models as each client does. */
interface Lister {
  list(limit?: number): Promise<string[]>;
  find(name: string): Promise<unknown>;
}

type Connect = (gateway: TestGateway) => Lister;

const ofOpenAi =
  (Client: typeof OpenAI): Connect =>
  ({ url, clientKey }) => {
    const { models } = new Client({ apiKey: clientKey, baseURL: `${url}/v1`, maxRetries: 0 });
    return { list: () => idsOf(models.list()), find: (name) => models.retrieve(name) };
  };

const ofAnthropic =
  (Client: typeof Anthropic): Connect =>
  ({ url, clientKey }) => {
    const { models } = new Client({ apiKey: clientKey, baseURL: url, maxRetries: 0 });
    return {
      list: (limit) => idsOf(models.list(limit === undefined ? {} : { limit })),
      find: (name) => models.retrieve(name),
    };
  };

const ofGoogle =
  (Client: typeof GoogleGenAI): Connect =>
  ({ url, clientKey }) => {
    const httpOptions = { baseUrl: url };
    const { models } = new Client({ apiKey: clientKey, vertexai: false, httpOptions });
    return {
      list: async (limit) => {
        const config = limit === undefined ? {} : { pageSize: limit };
        const names = await idsOf(await models.list({ config }));
        return names.map((name) => name.replace(/^models\//, ''));
      },
      find: (model) => models.get({ model }),
    };
  };

const CLIENTS: Record<string, Connect> = {
  'openai 7': ofOpenAi(OpenAI),
  'openai 6': ofOpenAi(OpenAI6 as unknown as typeof OpenAI),
  'anthropic 1': ofAnthropic(Anthropic),
  'anthropic 0': ofAnthropic(Anthropic0 as unknown as typeof Anthropic),
  'genai 3': ofGoogle(GoogleGenAI),
  'genai 2': ofGoogle(GoogleGenAI2 as unknown as typeof GoogleGenAI),
  'genai 1': ofGoogle(GoogleGenAI1 as unknown as typeof GoogleGenAI),
};

describe.each(Object.entries(CLIENTS))('the client %s', (_name, connect) => {
  it(
    verifies(
      'catalog.compat.official-clients',
      'lists the models that its key may use, page by page',
    ),
    async () => {
      const client = connect(open);
      expect(await client.list()).toEqual(NAMES);
      expect(await client.list(1)).toEqual(NAMES);
      expect(JSON.stringify(await client.find('b/two'))).toContain('b/two');
      const path = '/admin/v1/keys';
      const body = { organization: 'default', name: randomUUID(), allowed_models: ['b/*'] };
      const made = await ask(open.url + path, { method: 'POST', key: open.adminKey, body });
      const narrow = connect({ ...open, clientKey: made.body.value });
      expect(await narrow.list()).toEqual(['b/two']);
    },
  );
});

describe('model lists for every client', () => {
  it(
    verifies('auth.compat.models-carriers', 'read x-api-key and the Google header, Bearer first'),
    async () => {
      for (const path of ['/v1/models', '/v1/models/b/two']) {
        for (const name of ['x-api-key', 'x-goog-api-key', 'x-native-api-key']) {
          const statusOf = async ({ url, clientKey }: TestGateway, bearer?: string) => {
            const headers = {
              [name]: clientKey,
              ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
            };
            return (await ask(url + path, { headers })).status;
          };
          expect(await statusOf(open), `${name} on ${path}`).toBe(200);
          expect(await statusOf(open, 'gw_unknown'), `a wrong Bearer beside ${name}`).toBe(401);
          expect(await statusOf(strict), `${name} where it is off`).toBe(401);
        }
        const headers = { 'x-api-key': 'gw_unknown', authorization: `Bearer ${open.clientKey}` };
        expect((await ask(open.url + path, { headers })).status).toBe(200);
      }
    },
  );

  it(
    verifies('catalog.compat.messages-shape', 'speak the shape of the protocol whose headers came'),
    async () => {
      const list = (headers: Record<string, string>, query = '') =>
        ask(`${open.url}/v1/models${query}`, {
          headers: { 'x-api-key': open.clientKey, ...headers },
        });
      const version = { 'anthropic-version': '2023-06-01' };
      const { body } = await list(version, '?limit=2');
      expect(body).toEqual({
        data: ['a/one', 'b/two'].map((id) => ({
          type: 'model',
          id,
          display_name: expect.any(String),
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
          max_tokens: null,
        })),
        has_more: true,
        first_id: 'a/one',
        last_id: 'b/two',
      });
      const rest = await list(version, '?limit=2&after_id=b/two');
      expect(rest.body).toMatchObject({ has_more: false, first_id: 'c/three' });
      const before = await list(version, '?limit=1&before_id=c/three');
      expect(before.body).toMatchObject({ has_more: true, first_id: 'b/two' });
      expect((await list(version, '?limit=0')).status).toBe(400);
      expect((await list({})).body).toMatchObject({
        object: 'list',
        data: [{ object: 'model' }, {}, {}],
      });
      const google = await ask(`${open.url}/v1/models`, {
        headers: { 'x-goog-api-key': open.clientKey },
      });
      expect(google.body.models).toHaveLength(3);
    },
  );

  it('tell of errors in the shape of the client', async () => {
    const told = async ({ url, clientKey }: TestGateway, headers: Record<string, string>) =>
      (await ask(`${url}/v1/models/nope`, { key: clientKey, headers })).body;
    const google = { error: { code: 404, message: 'model not found', status: 'NOT_FOUND' } };
    const flat = { error: 'model not found' };
    const version = { 'anthropic-version': '2023-06-01' };
    for (const gateway of [open, strict]) {
      expect(await told(gateway, { 'x-goog-api-client': 'x' })).toEqual(google);
      expect(await told(gateway, {})).toEqual(flat);
    }
    expect(await told(strict, version)).toEqual(flat);
    expect(await told(open, version)).toMatchObject({
      type: 'error',
      error: { type: 'not_found_error', message: 'model not found' },
    });
  });
});
