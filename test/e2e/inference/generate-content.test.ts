import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { payloads } from '../../support/chat.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { askRaw, openRaw } from '../../support/raw-client.ts';
import { beginEvents, sendJson, startUpstream } from '../../support/stage/upstream.ts';
import type { SeenRequest, Upstream } from '../../support/stage/upstream.ts';

type Play = (response: ServerResponse, request: SeenRequest) => void;

const HELLO = '{"contents":[{"role":"user","parts":[{"text":"hello"}]}]}';
const USAGE = { promptTokenCount: 10, candidatesTokenCount: 4, totalTokenCount: 14 };

interface Element {
  candidates?: { content?: { parts?: { text?: string }[] }; finishReason?: string }[];
  usageMetadata?: object;
  promptFeedback?: object;
  error?: { code: number; message: string; status: string };
}

function element(text: string, rest: object = {}): object {
  const content = { role: 'model', parts: [{ text }] };
  return { candidates: [{ content, index: 0, ...rest }], modelVersion: 'up', responseId: 'r-1' };
}

const last = (text: string, usage: object = USAGE): object => ({
  ...element(text, { finishReason: 'STOP' }),
  usageMetadata: usage,
});

const frame = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;

const play =
  (...elements: readonly object[]): Play =>
  (response) => {
    beginEvents(response);
    response.end(elements.map(frame).join(''));
  };

const answer: Play = (response, request) => {
  if (request.url.includes(':streamGenerateContent'))
    play(element('fi'), last('ne'))(response, request);
  else if (request.url.includes(':countTokens')) sendJson(response, 200, { totalTokens: 31 });
  else sendJson(response, 200, last('fine'));
};

const textOf = (elements: readonly Element[]): string =>
  elements
    .flatMap(({ candidates = [] }) => candidates.flatMap(({ content }) => content?.parts ?? []))
    .map(({ text }) => text ?? '')
    .join('');

describe('generate-content', () => {
  let upstream: Upstream;
  let other: Upstream;
  let gateway: TestGateway;
  let current: Play;
  beforeAll(async () => {
    upstream = await startUpstream((response, request) => current(response, request));
    other = await startUpstream((response) =>
      sendJson(response, 200, { object: 'chat.completion' }),
    );
    const provider = (name: string, protocols: object, url = upstream.url): object => ({
      name,
      type: 'custom',
      base_url: url,
      auth: { type: 'none' },
      protocols,
    });
    const google = { 'generate-content': { path: '/v1beta/models/{model}:{method}' } };
    const model = (name: string, to: string, rest: object = {}): object => ({
      name,
      routes: [{ provider: to, upstream_model: `up-${to}`, ...rest }],
    });
    gateway = await startGateway({
      providers: [
        provider('google', google),
        provider('chatty', { chat: { path: '/chat' } }, other.url),
      ],
      models: [
        model('acme/gem', 'google'),
        model('acme/team/deep', 'google'),
        model('acme/odd:tag', 'google'),
        // Two vendors of one bare name: only the second one speaks the protocol.
        model('chatco/shared', 'chatty'),
        model('gemco/shared', 'google'),
        model('zetaco/first', 'google'),
        model('chatco/only', 'chatty'),
        model('acme/logical', 'google', { response_model: 'logical' }),
        { ...model('acme/priced', 'google'), pricing: { input: '1', output: '1' } },
      ],
    });
  });
  beforeEach(() => {
    current = answer;
    upstream.seen.length = 0;
    other.seen.length = 0;
  });
  afterAll(async () => {
    await gateway.stop();
    await upstream.close();
    await other.close();
  });

  const ask = (path: string, body: string = HELLO, headers: Record<string, string> = {}) =>
    askRaw(gateway.url + path, { key: gateway.clientKey, body, headers });
  const json = (raw: { body: Buffer }): any => JSON.parse(raw.body.toString('utf8'));

  describe('finds its model', () => {
    it(
      verifies(
        'gencontent.path.bare-model',
        'gencontent.path.resolution',
        'versioning.v1-alias-google',
        'by the path up to the last colon, under both versions',
      ),
      async () => {
        const names = ['gem', 'acme/gem', 'acme%2Fgem', 'models%2Fgem', 'team/deep', 'odd:tag'];
        for (const version of ['v1beta', 'v1'])
          for (const name of [...names, 'acme/odd%3Atag']) {
            const whole = await ask(`/${version}/models/${name}:generateContent`);
            expect([name, whole.status]).toEqual([name, 200]);
            expect(textOf([json(whole)])).toBe('fine');
            const path = `/${version}/models/${name}:streamGenerateContent?alt=sse`;
            const streamed = await ask(path);
            expect(payloads(streamed.body.toString())).toHaveLength(2);
          }
        expect(upstream.seen[0]?.url).toBe('/v1beta/models/up-google:generateContent');
        expect(upstream.seen[1]?.url).toBe(
          '/v1beta/models/up-google:streamGenerateContent?alt=sse',
        );
      },
    );

    it(
      verifies(
        'gencontent.path.resolution',
        'of the vendor that speaks the protocol, else of the first that was configured',
      ),
      async () => {
        expect((await ask('/v1beta/models/shared:generateContent')).status).toBe(200);
        const later = { name: 'alphaco/first', routes: [{ provider: 'google' }] };
        expect((await gateway.admin('POST', '/admin/v1/models', later)).status).toBe(201);
        await eventually(async () => {
          const { body } = await gateway.call('GET', '/v1/models?vendor=alphaco');
          return body.data.length === 1;
        });
        const first = await ask('/v1beta/models/first:generateContent');
        const id = String(first.headers['x-request-id']);
        const record = await eventually(async () => {
          const { body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
          return body.result === 'ok' ? body : undefined;
        });
        expect(record.model).toBe('zetaco/first');
      },
    );

    it(
      verifies(
        'gencontent.path.not-found',
        'gencontent.count-tokens',
        'or answers 404 to unknown names and methods',
      ),
      async () => {
        const paths = [
          'nothing:generateContent',
          'acme/nothing:generateContent',
          'gem:embedContent',
          'gem:batchEmbedContents',
          'gem:predict',
          'gem',
          ':generateContent',
          '%E0%A4%A:generateContent',
        ];
        for (const path of paths) {
          const refused = await ask(`/v1beta/models/${path}`);
          expect([path, refused.status]).toEqual([path, 404]);
          expect(json(refused).error).toMatchObject({ code: 404, status: 'NOT_FOUND' });
        }
        expect(upstream.seen).toHaveLength(0);
      },
    );

    it(
      verifies(
        'gencontent.no-protocol-fallback',
        'or answers 404 when nothing speaks the protocol, and asks nobody',
      ),
      async () => {
        const refused = await ask('/v1beta/models/chatco/only:generateContent');
        expect(refused.status).toBe(404);
        expect(json(refused).error.status).toBe('NOT_FOUND');
        expect([...upstream.seen, ...other.seen]).toEqual([]);
      },
    );
  });

  describe('takes a body', () => {
    it(
      verifies(
        'gencontent.body.all-optional',
        'of which every field may be missing, in both spellings, and sends it on as it came',
      ),
      async () => {
        const bodies = [
          '{}',
          '{ "contents":null,"x":{"b":1.0,"a":9007199254740993} }',
          '{"system_instruction":{"parts":[{"text":"be kind"}]},"generation_config":{"top_k":1}}',
          '{"systemInstruction":{},"generationConfig":{},"tools":[],"toolConfig":{},"safetySettings":[],"cachedContent":"cachedContents/1"}',
        ];
        for (const body of bodies) {
          expect((await ask('/v1beta/models/gem:generateContent', body)).status).toBe(200);
          expect(upstream.seen.at(-1)?.body.toString()).toBe(body);
        }
      },
    );

    it(
      verifies('gencontent.body.all-optional', 'and refuses wrong types by the name of the field'),
      async () => {
        const wrong: Record<string, string> = {
          contents: '{"contents":1}',
          'contents[0]': '{"contents":["hello"]}',
          'contents[0].parts': '{"contents":[{"parts":"hello"}]}',
          'contents[1].parts[0]': '{"contents":[{},{"parts":[1]}]}',
          systemInstruction: '{"systemInstruction":"be kind"}',
          generationConfig: '{"generation_config":[]}',
          tools: '{"tools":1}',
          toolConfig: '{"tool_config":"ANY"}',
          safetySettings: '{"safetySettings":1}',
          cachedContent: '{"cachedContent":1}',
        };
        for (const [field, body] of Object.entries(wrong)) {
          const refused = await ask('/v1beta/models/gem:generateContent', body);
          expect([field, refused.status]).toEqual([field, 400]);
          expect(json(refused).error.status).toBe('INVALID_ARGUMENT');
          expect(json(refused).error.message).toContain(`\`${field}\``);
        }
        expect(upstream.seen).toHaveLength(0);
      },
    );

    it(
      verifies('auth.google.query-key-stripped', 'without the key in its query going anywhere'),
      async () => {
        const key = gateway.clientKey;
        const wrong = 'sk-0000000000000000000000000000000000000000000000000000000000000000';
        const path = '/v1beta/models/gem:generateContent';
        const served = await askRaw(`${gateway.url}${path}?key=${key}&x=1`, { body: HELLO });
        expect(served.status).toBe(200);
        const [seen] = upstream.seen;
        expect(seen?.url).toBe('/v1beta/models/up-google:generateContent');
        expect(JSON.stringify(seen)).not.toContain(key);
        const refused = await askRaw(`${gateway.url}${path}?key=${wrong}`, { body: HELLO });
        expect(refused.status).toBe(401);
        const missing = `/v1beta/models/gem:none?key=${key}`;
        const unknown = await askRaw(gateway.url + missing, { body: HELLO });
        expect(unknown.status).toBe(404);
        const metrics = await gateway.call('GET', '/metrics', { key: gateway.adminKey });
        const said = [served, refused, unknown].map(({ body }) => body.toString()).join('');
        for (const secret of [key, wrong])
          expect(said + gateway.log() + JSON.stringify(metrics.body)).not.toContain(secret);
      },
    );
  });

  describe('answers', () => {
    it(
      verifies(
        'gencontent.native-image.raw',
        'pictures, modalities and fields of the provider as they came, both ways',
      ),
      async () => {
        const body =
          '{"contents":[{"parts":[{"inline_data":{"mime_type":"image/png","data":"iVBORw0KGgo="}},{"text":"bluer"}]}],"generationConfig":{"responseModalities":["IMAGE","TEXT"],"imageConfig":{"aspectRatio":"16:9"},"candidateCount":2}, "x":1.0}';
        const raw =
          '{ "candidates": [{"content": {"parts": [{"inlineData":{"mimeType":"image/png","data":"AAAA"}}], "role":"model"},"finishReason":"STOP","tokenCount":1.0}], "usageMetadata":{"promptTokenCount":1290,"candidatesTokenCount":1290,"x":9007199254740993}, "newField":[1e2] }';
        current = (response) => sendJson(response, 200, raw);
        const got = await ask('/v1beta/models/gem:generateContent', body);
        expect(got.body.toString()).toBe(raw);
        expect(upstream.seen[0]?.body.toString()).toBe(body);
      },
    );

    it('under the logical name where the route says so', async () => {
      const whole = await ask('/v1beta/models/logical:generateContent');
      expect(json(whole).modelVersion).toBe('acme/logical');
      const streamed = await ask('/v1beta/models/logical:streamGenerateContent');
      expect(json(streamed).map((one: any) => one.modelVersion)).toEqual([
        'acme/logical',
        'acme/logical',
      ]);
    });

    it(
      verifies(
        'gencontent.count-tokens',
        'how many tokens there are: the count of the provider, or an estimate',
      ),
      async () => {
        const counted = await ask('/v1beta/models/gem:countTokens');
        expect(json(counted)).toEqual({ totalTokens: 31 });
        expect(upstream.seen[0]?.url).toBe('/v1beta/models/up-google:countTokens');
        const estimated = await ask(
          '/v1beta/models/chatco/only:countTokens',
          '{"contents":[{"role":"user","parts":[{"text":"12345678"}]}]}',
        );
        expect([estimated.status, json(estimated)]).toEqual([200, { totalTokens: 2 }]);
        current = (response) => sendJson(response, 500, {});
        const failed = await ask('/v1/models/gem:countTokens');
        expect([failed.status, json(failed)]).toEqual([200, { totalTokens: 2 }]);
        expect(other.seen).toEqual([]);
      },
    );
  });

  describe('streams', () => {
    const arrayPath = '/v1beta/models/gem:streamGenerateContent';
    const ssePath = `${arrayPath}?alt=sse`;

    it(
      verifies('gencontent.stream.json-array', 'one JSON array whose elements leave as they come'),
      async () => {
        let goOn = (): void => undefined;
        current = (response) => {
          beginEvents(response);
          response.write(frame(element('fi')));
          goOn = () => void response.end(frame(last('ne')));
        };
        const opened = await openRaw(gateway.url + arrayPath, {
          key: gateway.clientKey,
          body: HELLO,
        });
        expect(opened.status).toBe(200);
        expect(opened.headers['content-type']).toBe('application/json');
        const early = await eventually(() => opened.text() || undefined);
        expect(textOf(JSON.parse(`${early}]`))).toBe('fi');
        goOn();
        expect((await opened.ended).complete).toBe(true);
        const elements = JSON.parse(opened.text()) as Element[];
        expect(elements).toHaveLength(2);
        expect(textOf(elements)).toBe('fine');
      },
    );

    it(
      verifies(
        'gencontent.stream.alt-sse',
        'gencontent.stream.sse-framing',
        'bare data frames, whatever frames the provider wrote',
      ),
      async () => {
        current = (response) => {
          beginEvents(response);
          const named = `: hi\n\nevent: chunk\nid: 1\ndata: ${JSON.stringify(element('fi'))}\n\n`;
          const split = `data: {"candidates":\ndata: ${JSON.stringify((last('ne') as Element).candidates)}}\n\n`;
          response.end(`${named}${split}data: [DONE]\n\n`);
        };
        const got = await ask(ssePath);
        expect(got.headers['content-type']).toContain('text/event-stream');
        const [comment, ...lines] = got.body.toString().split('\n').filter(Boolean);
        expect(comment).toBe(': hi');
        expect(lines).toHaveLength(2);
        expect(lines.every((line) => line.startsWith('data: {'))).toBe(true);
        expect(textOf(lines.map((line) => JSON.parse(line.slice(6))))).toBe('fine');
      },
    );

    it(
      verifies(
        'gencontent.stream.error-in-band',
        'an element that tells of a failure, and closes the array behind it',
      ),
      async () => {
        const failure = { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } };
        const faults: Play[] = [play(element('fi'), failure), play(element('fi'))];
        for (const fault of faults) {
          current = fault;
          const elements = json(await ask(arrayPath)) as Element[];
          expect(textOf(elements)).toBe('fi');
          expect(elements.at(-1)).toEqual({
            error: { code: 502, message: expect.any(String), status: 'UNAVAILABLE' },
          });
          const frames = payloads((await ask(ssePath)).body.toString());
          expect(JSON.parse(frames.at(-1) ?? '')).toEqual(elements.at(-1));
        }
      },
    );

    it(
      verifies(
        'gencontent.stream.usage-cumulative',
        'and charges the last usage; a refused prompt is shown as it is',
      ),
      async () => {
        const growing = { promptTokenCount: 1_000_000, candidatesTokenCount: 1_000_000 };
        const final = {
          promptTokenCount: 1_000_000,
          candidatesTokenCount: 2_000_000,
          thoughtsTokenCount: 500_000,
          toolUsePromptTokenCount: 250_000,
        };
        current = play({ ...element('fi'), usageMetadata: growing }, last('ne', final));
        const streamed = await ask('/v1beta/models/priced:streamGenerateContent');
        const id = String(streamed.headers['x-request-id']);
        const record = await eventually(async () => {
          const { body } = await gateway.admin('GET', `/admin/v1/requests/${id}`);
          return body.result === 'ok' ? body : undefined;
        });
        expect(record.cost).toBe('3.75');
        const blocked = { promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: growing };
        current = play(blocked);
        expect(json(await ask(arrayPath))).toEqual([blocked]);
      },
    );
  });
});
