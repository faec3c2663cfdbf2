import OpenAI from 'openai';
import OpenAI6 from 'openai-6';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { RequestRecord } from '../../../src/usage/requests/request-record.ts';
import { verifies } from '../../requirements.ts';
import { customProvider } from '../../support/chat.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { Answer, TestGateway } from '../../support/gateway.ts';
import { PRIVATE, INPUT_TOKENS, startKeeping } from '../../support/stage/keeping-provider.ts';
import type { KeepingProvider } from '../../support/stage/keeping-provider.ts';
import { sendJson } from '../../support/stage/upstream.ts';

const PATH = '/v1/responses';
const LIBRARIES = [
  ['openai 7', OpenAI],
  ['openai 6', OpenAI6 as unknown as typeof OpenAI],
] as const;
const PRICED = { pricing: { input: '1', output: '1' } };

let a: KeepingProvider;
let b: KeepingProvider;
let gateway: TestGateway;
let client: OpenAI;
let count = 0;

beforeAll(async () => {
  a = await startKeeping('a');
  b = await startKeeping('b');
  const protocols = { protocols: { responses: true } };
  const route = (provider: string, priority = 0) => ({ provider, upstream_model: 'up', priority });
  gateway = await startGateway({
    providers: [
      customProvider('a', a.url, protocols),
      customProvider('b', b.url, protocols),
      customProvider('chat', a.url, { protocols: { chat: true } }),
    ],
    models: [
      { name: 'm/a', ...PRICED, routes: [route('a')] },
      { name: 'm/b', ...PRICED, routes: [route('b')] },
      { name: 'm/both', ...PRICED, routes: [route('a'), route('b', 1)] },
      { name: 'm/chat', ...PRICED, routes: [route('chat')] },
    ],
  });
  client = connect(OpenAI);
});

beforeEach(() => {
  a.play = undefined;
  b.play = undefined;
});

afterAll(async () => {
  await gateway.stop();
  await a.close();
  await b.close();
});

const connect = (Client: typeof OpenAI, apiKey = gateway.clientKey): OpenAI =>
  new Client({ baseURL: `${gateway.url}/v1`, apiKey, maxRetries: 0 });

const make = (extra: object = {}): Promise<{ id: string }> =>
  client.responses.create({ model: 'm/b', input: 'x', ...extra });

async function newKey(fields: object): Promise<string> {
  const made = await gateway.admin('POST', '/admin/v1/keys', {
    name: `other-${(count += 1)}`,
    ...fields,
  });
  expect(made.status).toBe(201);
  return made.body.value as string;
}

async function otherOrganization(): Promise<string> {
  const { body } = await gateway.admin('POST', '/admin/v1/organizations', {
    name: `other-${count}`,
  });
  return newKey({ organization: body.name });
}

const recordOf = async ({ headers }: Answer): Promise<RequestRecord> => {
  const id = headers.get('x-request-id') ?? '';
  return eventually(async () => {
    const { status, body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
    return status === 200 && body.result !== 'pending' ? (body as RequestRecord) : undefined;
  });
};

describe('a Response that its provider keeps', () => {
  it.each(LIBRARIES)(
    verifies('responses.lookup', 'is read, listed and deleted by the official client: %s'),
    async (_name, Client) => {
      const { responses } = connect(Client);
      const made = await responses.create({ model: 'm/b', input: 'x' });
      const found = await responses.retrieve(made.id, { include: ['reasoning.encrypted_content'] });
      expect(found).toEqual(made);
      expect(found).toMatchObject({ model: 'm/b', output_text: 'b' });
      expect(JSON.stringify(found)).not.toContain(PRIVATE);
      const [looked] = b.asked('GET', `${PATH}/${made.id}`).slice(-1);
      expect(decodeURIComponent(looked?.url ?? '')).toMatch(
        /\?include\[\d*\]=reasoning\.encrypted_content$/,
      );
      expect(a.asked('GET', `${PATH}/${made.id}`)).toEqual([]);

      const items: unknown[] = [];
      for await (const item of responses.inputItems.list(made.id, { limit: 2, order: 'asc' }))
        items.push(item);
      expect(items).toMatchObject([{ id: 'msg_a' }, { id: 'msg_b' }, { id: 'msg_c' }]);
      expect(JSON.stringify(items)).not.toContain(PRIVATE);
      expect(b.asked('GET', `${PATH}/${made.id}/input_items`)).toHaveLength(2);

      await responses.delete(made.id);
      await expect(responses.retrieve(made.id)).rejects.toBeInstanceOf(Client.NotFoundError);
    },
  );

  it(verifies('responses.lookup', 'is streamed again, also from an event on'), async () => {
    const { id } = await make();
    const read = async (query: object): Promise<number[]> => {
      const numbers: number[] = [];
      const stream = await client.responses.retrieve(id, { stream: true, ...query });
      for await (const event of stream) {
        expect(JSON.stringify(event)).not.toContain(PRIVATE);
        if ('output_index' in event) expect(event.output_index).toBe(0);
        numbers.push(event.sequence_number);
      }
      return numbers;
    };
    expect(await read({})).toEqual([0, 1, 3, 4, 5, 6, 7]);
    expect(await read({ starting_after: 4 })).toEqual([5, 6, 7]);
    expect(await read({ starting_after: 7 })).toEqual([]);
    const wrong = await gateway.call('GET', `${PATH}/${id}?stream=true&starting_after=x`);
    expect(wrong).toMatchObject({ status: 400, body: { error: { param: 'starting_after' } } });
  });

  it(
    verifies(
      'responses.lookup',
      'is not found by another organization, nor by keys without its model',
    ),
    async () => {
      const { id } = await make();
      const seen = b.seen.length;
      const keys = [await otherOrganization(), await newKey({ allowed_models: ['m/a'] })];
      for (const key of keys)
        for (const [method, path] of [
          ['GET', ''],
          ['GET', '?stream=true'],
          ['GET', '/input_items'],
          ['POST', '/cancel'],
          ['DELETE', ''],
        ] as const) {
          const answer = await gateway.call(method, `${PATH}/${id}${path}`, { key });
          expect(answer).toMatchObject({
            status: 404,
            body: { error: { type: 'not_found_error', code: 'not_found' } },
          });
        }
      expect(b.seen.length).toBe(seen);
      const same = await newKey({});
      expect((await gateway.call('GET', `${PATH}/${id}`, { key: same })).body.id).toBe(id);
    },
  );

  it(
    verifies(
      'responses.lookup',
      'is not found where none is kept: not stored, translated, never made',
    ),
    async () => {
      const { id } = await make({ store: false });
      a.play = (to) => {
        const choice = {
          index: 0,
          message: { role: 'assistant', content: 'x' },
          finish_reason: 'stop',
        };
        sendJson(to, 200, { id: 'c', object: 'chat.completion', model: 'up', choices: [choice] });
        return true;
      };
      const translated = await make({ model: 'm/chat' });
      const seen = a.seen.length + b.seen.length;
      for (const one of [id, translated.id, 'resp_none', '%zz', '..%2f..'])
        expect((await gateway.call('GET', `${PATH}/${one}`)).status).toBe(404);
      expect(a.seen.length + b.seen.length).toBe(seen);
    },
  );

  it.each([
    ['of another id', { id: 'resp_other' }],
    ['of no kind', { object: 'thing' }],
    ['that is no object', '[1]'],
    ['that is cut', '{"id":'],
  ])(verifies('responses.lookup', 'fails closed on an answer %s'), async (_what, answer) => {
    const { id } = await make();
    b.play = (to) => {
      sendJson(to, 200, typeof answer === 'string' ? answer : { ...b.kept.get(id), ...answer });
      return true;
    };
    const { status, body } = await gateway.call('GET', `${PATH}/${id}`);
    expect([status, body.error.code]).toEqual([502, 'invalid_upstream_response']);
  });

  it(
    verifies(
      'responses.lookup',
      'is refused with the reason where the provider has no such endpoint',
    ),
    async () => {
      const { id } = await make();
      for (const [status, body] of [
        [404, '404 page not found'],
        [404, { error: { message: 'Invalid URL (GET /v1/responses/x)', code: null } }],
        [404, { detail: 'Not Found' }],
        [405, { detail: 'Method Not Allowed' }],
      ] as const) {
        b.play = (to) => (sendJson(to, status, body), true);
        const answer = await gateway.call('GET', `${PATH}/${id}`);
        expect(answer).toMatchObject({
          status: 400,
          body: {
            error: {
              code: 'unsupported_feature',
              message: 'the provider of this model has no GET /v1/responses/{id}',
            },
          },
        });
      }
    },
  );

  it(verifies('responses.lookup', 'is recorded, costs nothing, and needs no money'), async () => {
    const key = await newKey({ spending_limit: '0.0002' });
    const { id } = (
      await gateway.call('POST', PATH, {
        key,
        body: { model: 'm/b', input: 'x', max_output_tokens: 20 },
      })
    ).body;
    const again = { key, body: { model: 'm/b', input: 'x', max_output_tokens: 200 } };
    expect((await gateway.call('POST', PATH, again)).status).toBe(402);
    const found = await gateway.call('GET', `${PATH}/${id}`, { key });
    expect(found.status).toBe(200);
    expect(await recordOf(found)).toMatchObject({
      surface: 'responses.get',
      model: 'm/b',
      cost: '0.00',
      result: 'ok',
      usage: { input_tokens: 0, output_tokens: 0 },
    });
    expect((await gateway.call('DELETE', `${PATH}/${id}`, { key })).status).toBe(200);
  });

  it(verifies('responses.lookup', 'is deleted at a provider that answers nothing'), async () => {
    const { id } = await make();
    b.play = (to) => (to.writeHead(204).end(), true);
    const { status, body } = await gateway.call('DELETE', `${PATH}/${id}`);
    expect([status, body]).toEqual([200, { id, object: 'response.deleted', deleted: true }]);
    expect((await gateway.call('GET', `${PATH}/${id}`)).status).toBe(502);
  });

  it('answers other methods in the shape of the family', async () => {
    const answer = await gateway.call('PUT', `${PATH}/resp_1`);
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD, DELETE']);
    expect(answer.body.error.code).toBe('method_not_allowed');
  });
});

describe.each([
  ['input_tokens', 'responses.input-tokens'],
  ['compact', 'responses.compact'],
] as const)('POST /v1/responses/%s', (operation, id) => {
  const path = `${PATH}/${operation}`;
  const ask = (model: string, rest: object = {}): Promise<Answer> =>
    gateway.call('POST', path, { body: { model, input: 'hello', ...rest } });

  it.each([
    ['no such path', 404, '404 page not found'],
    ['no such URL', 404, { error: { message: `Invalid URL (POST ${path})`, code: null } }],
    ['no such method', 405, ''],
  ])(
    verifies(id, 'goes to a provider that has it, and says so where none has: %s'),
    async (_what, status, body) => {
      a.play = (to) => (sendJson(to, status, body), true);
      const answer = await ask('m/both');
      expect(answer.status).toBe(200);
      b.play = a.play;
      for (const model of ['m/both', 'm/b'])
        expect(await ask(model)).toMatchObject({
          status: 400,
          body: {
            error: {
              code: 'unsupported_feature',
              message: `the provider of this model has no POST ${path}`,
            },
          },
        });
    },
  );

  it(verifies(id, 'is refused with the reason where every route is translated'), async () => {
    const seen = a.seen.length;
    const { status, body } = await ask('m/chat');
    expect([status, body.error.code, body.error.param]).toEqual([
      400,
      'unsupported_feature',
      'model',
    ]);
    expect(body.error.message).toContain('speaks responses itself');
    expect(a.seen.length).toBe(seen);
  });

  it(verifies(id, 'fails closed on anything else'), async () => {
    const hidden = [{ type: 'private_item', encrypted_content: 'x' }];
    const empty = { id: 'resp_c', object: 'response.compaction', output: hidden };
    for (const body of [empty, { object: 'response', output: [] }, { ok: true }, '[]', '{']) {
      b.play = (to) => (sendJson(to, 200, body), true);
      expect((await ask('m/b')).status).toBe(502);
    }
  });
});

describe('a conversation', () => {
  it.each(LIBRARIES)(
    verifies('responses.input-tokens', 'is counted for nothing by the official client: %s'),
    async (_name, Client) => {
      const counted = await connect(Client)
        .responses.inputTokens.count({ model: 'm/b', input: 'hello' })
        .withResponse();
      expect(counted.data).toEqual({ object: 'response.input_tokens', input_tokens: INPUT_TOKENS });
      const record = await recordOf({ headers: counted.response.headers } as Answer);
      expect(record).toMatchObject({
        surface: 'responses.input_tokens',
        cost: '0.00',
        usage: { input_tokens: 0 },
      });
      const [sent] = b.asked('POST', `${PATH}/input_tokens`).slice(-1);
      expect(JSON.parse(String(sent?.body))).toEqual({ model: 'up', input: 'hello' });
    },
  );

  it.each(LIBRARIES)(
    verifies('responses.compact', 'is compacted at its price, and goes on where it was: %s'),
    async (_name, Client) => {
      const { responses } = connect(Client);
      const compacted = await responses.compact({ model: 'm/b', input: 'hello' }).withResponse();
      const { data } = compacted;
      expect(data).toMatchObject({
        object: 'response.compaction',
        output: [{ type: 'message' }, { type: 'compaction', encrypted_content: 'gAAAb' }],
      });
      expect(JSON.stringify(data)).not.toContain(PRIVATE);
      const record = await recordOf({ headers: compacted.response.headers } as Answer);
      expect(record).toMatchObject({ surface: 'responses.compact', cost: '0.00012' });
      const next = await responses.create({
        model: 'm/both',
        input: data.output as OpenAI.Responses.ResponseInput,
      });
      expect(next.output_text).toBe('b');
      await expect(responses.retrieve(data.id)).rejects.toBeInstanceOf(Client.NotFoundError);
    },
  );
});

describe('what the gateway does not keep', () => {
  it.each([
    ['GET', '/v1/chat/completions', 405, '/v1/responses/{id}'],
    ['GET', '/v1/chat/completions/c_1', 404, '/v1/responses/{id}'],
    ['GET', '/v1/chat/completions/c_1/messages', 404, '/v1/responses/{id}'],
    ['POST', '/v1/chat/completions/c_1', 404, '/v1/responses/{id}'],
    ['POST', '/v1/conversations', 404, 'previous_response_id'],
    ['GET', '/v1/conversations/conv_1/items', 404, '/v1/sessions'],
  ])(
    verifies('responses.lookup', '%s %s is refused with a sentence that names what is there'),
    async (...[method, path, status, named]) => {
      const answer = await gateway.call(method, path, method === 'POST' ? { body: {} } : {});
      expect(answer.status).toBe(status);
      expect(answer.body.error.message).toContain(named);
    },
  );
});
