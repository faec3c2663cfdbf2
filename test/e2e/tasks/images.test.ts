import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LLMock } from '@copilotkit/aimock';
import fc from 'fast-check';
import OpenAI, { toFile } from 'openai';
import OpenAI6, { toFile as toFile6 } from 'openai-6';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startMockServer } from '../../../src/providers/mock/mock-server.ts';
import type { MockServer } from '../../../src/providers/mock/mock-server.ts';
import { verifies } from '../../requirements.ts';
import { runsOf } from '../../runs.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { formText, readParts } from '../../support/form-text.ts';
import type { WrittenPart } from '../../support/form-text.ts';
import { askRaw, sendRaw } from '../../support/raw-client.ts';
import type { RawAnswer } from '../../support/raw-client.ts';
import { sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { SeenRequest, Upstream } from '../../support/stage/upstream.ts';
import { anyCharacter } from '../../support/text/any-character.ts';

const EDITS = '/v1/images/edits';
const GENERATIONS = '/v1/images/generations';
const USAGE = {
  total_tokens: 50,
  input_tokens: 20,
  output_tokens: 30,
  input_tokens_details: { text_tokens: 5, image_tokens: 15 },
  output_tokens_details: { text_tokens: 0, image_tokens: 30 },
};
const ANSWER = `{ "created": 1.0, "data": [ {"b64_json":"aGk=","revised_prompt":"x"} ], "extra":{"a":1e2}, "usage": ${JSON.stringify(USAGE)} }`;
const NO_USAGE =
  '{"created":1,"data":[{"url":"https://example.com/a.png"},{"url":"https://example.com/b.png"}]}';
const LARGE_BYTES = 10 * 1024 * 1024;
const LARGE = Buffer.from(
  `{"data":[{"b64_json":"${'A'.repeat(LARGE_BYTES)}"}],"usage":${JSON.stringify(USAGE)}}`,
);

/** What a provider answers, by its model's name. */
const PLAYS: Record<
  string,
  (response: Parameters<Parameters<typeof startUpstream>[0]>[0]) => void
> = {
  up: (response) => sendJson(response, 200, ANSWER),
  free: (response) => sendJson(response, 200, NO_USAGE),
  large: (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(LARGE),
  down: (response) => sendJson(response, 503, { error: { message: 'overloaded' } }),
  reset: (response) => void response.socket?.resetAndDestroy(),
  hung: () => undefined,
  empty: (response) => sendJson(response, 200, '{"data":[]}'),
  text: (response) => sendJson(response, 200, '{"data":["aGk="]}'),
  nothing: (response) => sendJson(response, 200, '{"data":[{"b64_json":""}]}'),
};

/** Reads what a provider got with a parser that is not ours. */
const partsOf = ({ headers, body }: SeenRequest): Promise<WrittenPart[]> =>
  readParts(headers['content-type'] ?? '', body);

/** What a provider gets of a form whose model has the name that it knows. */
function expectForm({ headers, body }: SeenRequest, parts: readonly WrittenPart[]): void {
  const boundary = /^multipart\/form-data; boundary=(req_\w+)$/.exec(headers['content-type'] ?? '');
  expect(body.equals(formText(boundary?.[1] ?? '', parts))).toBe(true);
  expect(headers['content-length']).toBe(String(body.length));
}

const FORM_WITHOUT_NAME =
  '--b0\r\nContent-Disposition: form-data\r\n\r\nx\r\n--b0\r\n' +
  'Content-Disposition: form-data; name="model"\r\n\r\ni/up\r\n--b0--\r\n';
const text = (name: string, content: string): WrittenPart => ({ name, content });
const png = (name: string, content: Buffer | string, filename = 'a.png'): WrittenPart => ({
  name,
  filename,
  type: 'image/png',
  content,
});

describe('images', () => {
  let upstream: Upstream;
  let dead: Upstream;
  let mock: MockServer;
  let independent: LLMock;
  let gateway: TestGateway;

  beforeAll(async () => {
    upstream = await startUpstream((response, { body }) => {
      const names = Object.keys(PLAYS).filter(
        (name) =>
          body.includes(`"model":"${name}"`) || body.includes(`name="model"\r\n\r\n${name}\r\n`),
      );
      PLAYS[names[0] ?? 'up']?.(response);
    });
    dead = await startUpstream(() => undefined);
    await dead.close();
    mock = await startMockServer();
    independent = new LLMock({ port: 0, logLevel: 'silent' });
    independent.addFixture({
      match: { endpoint: 'image' },
      response: { image: { b64Json: 'aGk=' } },
    });
    await independent.start();
    const provider = (name: string, url: string) => ({
      name,
      type: 'custom',
      base_url: `${url}/v1`,
      auth: { type: 'none' },
      protocols: { images: true, chat: true },
    });
    const model = (name: string, routes: object[], rest: object = {}) => ({
      name: `i/${name}`,
      type: 'image',
      routes,
      ...rest,
    });
    const pricing = { input: '10', output: '40', per_image: '0.25' };
    gateway = await startGateway({
      server: { limits: { body: '12MiB' } },
      providers: [
        provider('p', upstream.url),
        provider('q', upstream.url),
        provider('dead', dead.url),
        provider('mock', mock.url),
        provider('independent', independent.url),
      ],
      models: [
        ...Object.keys(PLAYS).map((name) =>
          model(name, [{ provider: 'p', upstream_model: name }], { pricing }),
        ),
        ...['down', 'reset'].map((name) =>
          model(`${name}-then-up`, [
            { provider: 'p', upstream_model: name },
            { provider: 'q', upstream_model: 'up', priority: 1 },
          ]),
        ),
        model('dead-then-up', [
          { provider: 'dead', upstream_model: 'up' },
          { provider: 'q', upstream_model: 'up', priority: 1 },
        ]),
        model('mock', [{ provider: 'mock', upstream_model: 'paint' }]),
        model('independent', [{ provider: 'independent', upstream_model: 'paint' }]),
        model('by-the-piece', [{ provider: 'p', upstream_model: 'free' }], {
          pricing: { per_image: '0.25' },
        }),
        model('closed', [{ provider: 'p', enabled: false }]),
        { name: 'i/chatty', routes: [{ provider: 'p' }] },
      ],
    });
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
    await mock.close();
    await independent.stop();
  });

  const generate = (model: string, rest: object = {}) =>
    gateway.call('POST', GENERATIONS, { body: { model, prompt: 'a cat', ...rest } });
  const askForm = (
    parts: readonly WrittenPart[] | Buffer,
    type = 'multipart/form-data; boundary=b0',
  ) =>
    askRaw(gateway.url + EDITS, {
      key: gateway.clientKey,
      headers: { 'content-type': type },
      body: Buffer.isBuffer(parts) ? parts : formText('b0', parts),
    });
  const json = ({ body }: RawAnswer) => JSON.parse(body.toString());
  const lastSeen = () => upstream.seen.at(-1) as SeenRequest;
  const recordOf = (id: unknown) =>
    eventually(async () => {
      const { body } = await gateway.admin('GET', `/admin/v1/requests/${String(id)}`);
      return body.result !== undefined && body.result !== 'pending' && body;
    });

  const clients = [
    { version: 7, Client: OpenAI, file: toFile },
    {
      version: 6,
      Client: OpenAI6 as unknown as typeof OpenAI,
      file: toFile6 as unknown as typeof toFile,
    },
  ];
  describe.each(clients)('with the official client $version', ({ Client, file }) => {
    const create = () =>
      new Client({ baseURL: `${gateway.url}/v1`, apiKey: gateway.clientKey, maxRetries: 0 });

    it.each(['mock', 'independent'])(
      verifies('images.generations.json', 'are generated by %s'),
      async (name) => {
        const answer = await create().images.generate({ model: `i/${name}`, prompt: 'a cat' });
        expect(answer.data?.[0]?.b64_json).toBeTruthy();
        expect(answer.usage !== undefined).toBe(name === 'mock');
      },
    );

    it.each(['mock', 'independent'])(
      verifies('images.edits.multipart', 'are edited by %s, one and several'),
      async (name) => {
        const one = await file(Buffer.from('one'), 'one.png', { type: 'image/png' });
        const two = await file(Buffer.from('two'), 'two.webp', { type: 'image/webp' });
        for (const image of [one, [one, two]]) {
          const answer = await create().images.edit({ model: `i/${name}`, image, prompt: 'a hat' });
          expect(answer.data?.[0]?.b64_json).toBeTruthy();
        }
      },
    );

    it(
      verifies(
        'images.edits.parts',
        'images.edits.multipart',
        'send every picture and the mask as they were, under their names, in their order',
      ),
      async () => {
        const pictures = [randomBytes(300_000), randomBytes(5), Buffer.from('\r\n--b\r\n')];
        const image = await Promise.all(
          pictures.map((bytes, i) => file(bytes, `ü ${i}.png`, { type: 'image/png' })),
        );
        const mask = await file(Buffer.from('m'), 'mask.png', { type: 'image/png' });
        const fields = {
          prompt: 'ein Hut',
          n: 2,
          background: 'opaque',
          unheard_of: 'kept',
        } as const;
        await create().images.edit({ ...fields, model: 'i/up', image, mask } as never);
        expect(lastSeen().url).toBe(EDITS);
        const parts = await partsOf(lastSeen());
        const files = parts
          .filter(({ filename }) => filename !== undefined)
          .sort((a, b) => a.name.localeCompare(b.name));
        expect(files.map(({ name, filename, type }) => [name, filename, type])).toEqual([
          ...pictures.map((_, i) => ['image[]', `ü ${i}.png`, 'image/png']),
          ['mask', 'mask.png', 'image/png'],
        ]);
        for (const [i, bytes] of pictures.entries()) {
          expect(bytes.equals(files[i]?.content as Buffer)).toBe(true);
        }
        const texts = parts
          .filter(({ filename }) => filename === undefined)
          .map(({ name, content }) => [name, content.toString()]);
        expect(Object.fromEntries(texts)).toEqual({ ...fields, n: '2', model: 'up' });
      },
    );

    it(verifies('errors.family.embeddings-images-responses', 'raise its typed error'), async () => {
      const refused = create().images.generate({ model: 'i/none', prompt: 'a cat' });
      const error = await refused.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(Client.BadRequestError);
      expect(error).toMatchObject({ status: 400, code: 'model_not_found', param: 'model' });
    });
  });

  it(
    verifies(
      'images.usage.authoritative',
      "pass the provider's answer and its counts on byte for byte, and are billed by them",
    ),
    async () => {
      const answer = await askForm([text('model', 'i/up'), png('image', 'x')]);
      expect(answer.body.toString()).toBe(ANSWER);
      const record = await recordOf(answer.headers['x-request-id']);
      expect(record).toMatchObject({
        surface: 'images',
        estimated: false,
        usage: { input_tokens: 20, output_tokens: 30, images: 1 },
      });
      expect(Number(record.cost)).toBeCloseTo((20 * 10 + 30 * 40) / 1e6 + 0.25, 9);
    },
  );

  it(
    verifies('images.usage.authoritative', 'have no counts where the provider sends none'),
    async () => {
      const answer = await generate('i/free');
      expect(JSON.stringify(answer.body)).toBe(NO_USAGE);
      const record = await recordOf(answer.headers.get('x-request-id'));
      expect(record).toMatchObject({
        estimated: false,
        usage: { input_tokens: 0, output_tokens: 0, images: 2 },
        cost: '0.50',
      });
    },
  );

  it('reserve the price of as many images as are asked for, either way', async () => {
    const made = await gateway.admin('POST', '/admin/v1/keys', {
      name: 'poor',
      spending_limit: '0.9',
    });
    const call = (rest: object) =>
      gateway.call('POST', GENERATIONS, {
        key: made.body.value,
        body: { model: 'i/by-the-piece', prompt: 'x', ...rest },
      });
    expect((await call({ n: 4 })).status).toBe(402);
    const edit = await askRaw(gateway.url + EDITS, {
      key: made.body.value,
      headers: { 'content-type': 'multipart/form-data; boundary=b0' },
      body: formText('b0', [text('model', 'i/by-the-piece'), text('n', '4')]),
    });
    expect(edit.status).toBe(402);
    expect((await call({ n: 3 })).status).toBe(200);
  });

  it.each([
    ['a stream', { stream: true }, 'stream'],
    ['an answer in a stream', { stream: 'true' }, 'stream'],
    ['an answer at another time', { async: true }, 'async'],
  ])(
    verifies('images.stream-async.rejected', 'are refused as %s, and nothing goes upstream'),
    async (_, rest, param) => {
      const before = upstream.seen.length;
      const answer = await generate('i/up', rest);
      expect(answer.status).toBe(400);
      expect(answer.body.error).toMatchObject({ param, code: 'invalid_request' });
      for (const value of ['true', 'True', '1', 'yes', 'on']) {
        const fields = [text('model', 'i/up'), png('image', 'x'), text(param, value)];
        const refused = await askForm(fields);
        expect([refused.status, json(refused).error.param]).toEqual([400, param]);
      }
      expect(upstream.seen).toHaveLength(before);
    },
  );

  it('may say that they want no stream', async () => {
    expect((await generate('i/up', { stream: false, async: null })).status).toBe(200);
    const fields = [text('stream', 'false'), text('async', '0'), text('model', 'i/up')];
    expect((await askForm(fields)).status).toBe(200);
  });

  it(
    verifies('images.model.public-set', 'take image models alone, by either way of asking'),
    async () => {
      for (const [name, status] of [
        ['i/chatty', 400],
        ['i/none', 400],
        ['i/closed', 404],
      ] as const) {
        expect([name, (await generate(name)).status]).toEqual([name, status]);
        const edit = await askForm([text('model', name), png('image', 'x')]);
        expect([name, edit.status]).toEqual([name, status]);
      }
    },
  );

  it.each([
    ['a list', 'empty'],
    ['something else than images', 'text'],
    ['an image without content', 'nothing'],
  ])(
    verifies('images.status.500-502-503', 'are 502 when the provider answers %s'),
    async (_, name) => {
      const answer = await generate(`i/${name}`);
      expect([answer.status, answer.body.error.code]).toEqual([502, 'invalid_upstream_response']);
    },
  );

  it(verifies('images.status.402-403-429', 'are 429 beyond the limit of their key'), async () => {
    const made = await gateway.admin('POST', '/admin/v1/keys', { name: 'slow', rpm_cap: 1 });
    expect(made.status).toBe(201);
    const call = () =>
      gateway.call('POST', GENERATIONS, {
        key: made.body.value,
        body: { model: 'i/up', prompt: 'x' },
      });
    expect((await call()).status).toBe(200);
    const refused = await call();
    expect([refused.status, refused.body]).toEqual([429, { error: 'API key rate limit exceeded' }]);
  });

  describe('that were sent', () => {
    const large = png('image', randomBytes(3_000_000));
    const bodies = {
      'in memory': [text('model', 'MODEL'), png('image', 'small')],
      'from disk': [large, text('model', 'MODEL'), large],
    };
    it.each(Object.entries(bodies))(
      verifies('routing.non-idempotent-no-retry', 'are not sent again after a reset, %s'),
      async (_, parts) => {
        const before = upstream.seen.length;
        const answer = await askForm(named(parts, 'i/reset-then-up'));
        expect([answer.status, json(answer).error.code]).toEqual([502, 'upstream_interrupted']);
        expect(answer.headers['x-should-retry']).toBe('false');
        expect(upstream.seen).toHaveLength(before + 1);
      },
    );

    it.each(Object.entries(bodies))(
      verifies('routing.non-idempotent-no-retry', 'are sent again to who refused to connect, %s'),
      async (_, parts) => {
        const answer = await askForm(named(parts, 'i/dead-then-up'));
        expect(answer.status).toBe(200);
        const record = await recordOf(answer.headers['x-request-id']);
        expect(record.attempts.map(({ provider, outcome }: never) => [provider, outcome])).toEqual([
          ['dead', 'connect'],
          ['dead', 'connect'],
          ['q', 'ok'],
        ]);
        expectForm(lastSeen(), named(parts, 'up'));
      },
    );

    it.each(Object.entries(bodies))(
      'are whole for the next candidate, too, %s',
      async (_, parts) => {
        const answer = await askForm(named(parts, 'i/down-then-up'));
        expect(answer.status).toBe(200);
        const [first, second] = upstream.seen.slice(-2) as [SeenRequest, SeenRequest];
        expectForm(first, named(parts, 'down'));
        expectForm(second, named(parts, 'up'));
      },
    );
  });

  it(
    verifies(
      'images.edits.parts',
      'keep every spelling of the pictures and any place of the model',
    ),
    async () => {
      const parts = [
        png('image', 'one', 'C:\\a b.png'),
        png('image[]', 'two'),
        { ...png('image[0]', 'three'), type: 'image/WEBP; x="y"' },
        text('prompt', 'x'),
        { name: 'mask', filename: 'm', content: '' },
      ];
      for (let at = 0; at <= parts.length; at++) {
        const model = (name: string) => parts.toSpliced(at, 0, text('model', name));
        expect((await askForm(model('i/up'))).status).toBe(200);
        expectForm(lastSeen(), model('up'));
      }
    },
  );

  it(
    verifies('images.edits.parts', 'arrive as the client meant them, whatever their form is'),
    async () => {
      // `n` is read, and has a form of its own.
      const name = fc
        .string({ unit: anyCharacter })
        .filter((value) => /^[^\\\p{Cc}]+$/u.test(value) && value !== 'n');
      const file = fc.record({
        name,
        filename: fc.string({ unit: anyCharacter }).filter((value) => !/\\(?:["\\]|$)/.test(value)),
        type: fc.constantFrom('image/png', 'image/svg+xml; charset=utf-8', 'text/plain', 'a/b'),
        content: fc.uint8Array({ maxLength: 50 }),
      });
      const field = fc.record({ name, content: fc.string({ unit: anyCharacter }) });
      await fc.assert(
        fc.asyncProperty(fc.array(fc.oneof(file, field), { maxLength: 6 }), async (parts) => {
          const form = new FormData();
          form.append('model', 'i/up');
          for (const part of parts) {
            if (!('type' in part)) form.append(part.name, part.content);
            else form.append(part.name, new File([part.content], part.filename, part));
          }
          const written = new Response(form);
          const type = written.headers.get('content-type') ?? '';
          const body = Buffer.from(await written.arrayBuffer());
          expect((await askForm(body, type)).status).toBe(200);
          const [, ...meant] = await readParts(type, body);
          expect(await partsOf(lastSeen())).toEqual([text('model', 'up'), ...meant]);
        }),
        // What forms there are is the reader's; this is the way there and back.
        { numRuns: runsOf(4, 8) },
      );
    },
  );

  it.each([
    ['JSON', '{"model":"i/up"}', 'application/json'],
    ['another type', 'model=i/up', 'application/x-www-form-urlencoded'],
    ['no boundary', 'x', 'multipart/form-data'],
    ['no form', 'hello', undefined],
    ['a part without a name', FORM_WITHOUT_NAME, undefined],
    ['a cut form', formText('b0', [text('model', 'i/up')]).subarray(0, -4), undefined],
    ['two models', formText('b0', [text('model', 'i/up'), text('model', 'i/free')]), undefined],
    ['another spelling', formText('b0', [text('model', 'i/up'), text('MODEL', 'x')]), undefined],
    ['no model', formText('b0', [text('prompt', 'x')]), undefined],
    ['a number that is a file', formText('b0', [text('model', 'i/up'), png('n', 'x')]), undefined],
    ['an empty model', formText('b0', [text('model', '')]), undefined],
  ])(verifies('images.edits.multipart', 'refuse %s with 400'), async (_, body, type) => {
    const before = upstream.seen.length;
    const answer = await askForm(Buffer.from(body as string), type);
    expect(answer.status).toBe(400);
    expect(Object.keys(json(answer).error).sort()).toEqual(['code', 'message', 'param', 'type']);
    expect(upstream.seen).toHaveLength(before);
  });

  it('refuse a body beyond the limit with 413, announced or not', async () => {
    const body = formText('b0', [
      text('model', 'i/up'),
      png('image', Buffer.alloc(13 * 1024 * 1024)),
    ]);
    expect((await askForm(body)).status).toBe(413);
    const chunked = await fetch(gateway.url + EDITS, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.clientKey}`,
        'content-type': 'multipart/form-data; boundary=b0',
      },
      body: new Blob([new Uint8Array(body)]).stream(),
      duplex: 'half',
    } as RequestInit);
    expect(chunked.status).toBe(413);
  });

  describe.runIf(existsSync('/proc/self/fd'))('on disk', () => {
    const directory = () => join(gateway.directory, '.gateway', 'spool');
    /** Files of bodies that are open in this process; they have no name. */
    const openBodies = (): number =>
      readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`).startsWith(directory());
        } catch {
          return false;
        }
      }).length;
    const picture = png('image', randomBytes(2_000_000));
    const formOf = (model: string) => formText('b0', [picture, text('model', model)]);

    it('are gone however the call ends', async () => {
      for (const name of ['up', 'none', 'empty', 'reset', 'down'])
        await askForm(formOf(`i/${name}`));
      await askForm(formOf('i/up').subarray(0, -6));
      await askForm([picture, text('model', 'i/up'), text('x', 'x'.repeat(2_000_000))]);
      expect(openBodies()).toBe(0);
      expect(readdirSync(directory())).toEqual([]);
    });

    it.each([
      ['waits for the answer', (whole: Buffer) => whole],
      ['sends it', (whole: Buffer) => whole.subarray(0, 1_500_000)],
    ])('are gone when the client leaves while it %s', async (_, part) => {
      const whole = formOf('i/hung');
      const headers = {
        'content-type': 'multipart/form-data; boundary=b0',
        'content-length': String(whole.length),
      };
      const before = upstream.seen.length;
      const sent = sendRaw(gateway.url + EDITS, {
        key: gateway.clientKey,
        headers,
        body: part(whole),
      });
      try {
        await eventually(() => openBodies() === 1);
        if (part(whole) === whole) await eventually(() => upstream.seen.length > before);
        await eventually(() => readdirSync(directory()).length === 0);
      } finally {
        sent.destroy();
      }
      await eventually(() => openBodies() === 0);
    });
  });

  it('of ten megabytes are answered whole, and memory does not grow with their number', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const held = (): number => {
      collect();
      const { arrayBuffers, heapUsed } = process.memoryUsage();
      return arrayBuffers + heapUsed;
    };
    const call = async () => {
      const answer = await askRaw(gateway.url + GENERATIONS, {
        key: gateway.clientKey,
        body: JSON.stringify({ model: 'i/large', prompt: 'x' }),
      });
      expect(answer.body.equals(LARGE)).toBe(true);
    };
    await call();
    const before = held();
    for (let i = 0; i < 3; i++) await call();
    await eventually(() => held() - before < 2 * LARGE_BYTES);
  });
});

function named(parts: readonly WrittenPart[], model: string): WrittenPart[] {
  return parts.map((part) => (part.name === 'model' ? { ...part, content: model } : part));
}
