import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WIRES } from '../../fixtures/wire/recorded.ts';
import type { Recorded } from '../../fixtures/wire/recorded.ts';
import { SAID, TWO_CALLS } from '../../fixtures/wire/wire.ts';
import { verifies } from '../../requirements.ts';
import { AI_SDK_CLIENTS, CLIENTS, OLDER_CLIENTS } from './clients.ts';
import { livePairs, openStage, PAIR_TITLE } from './stage.ts';
import type { Stage } from './stage.ts';

/** Fields that no other protocol has. */
const OWN: Readonly<Record<string, object>> = {
  chat: { logit_bias: { 50256: -100 }, vendor_field: true },
  responses: { truncation: 'auto', vendor_field: true },
  messages: { container: 'box', vendor_field: true },
  'generate-content': { labels: { a: 'b' }, safetySettings: [] },
};

/** What a request of generate-content may not ask of a provider of another protocol. */
const REFUSED: Readonly<Record<string, object>> = {
  'inlineData.mimeType': { inlineData: { mimeType: 'application/pdf', data: 'AA==' } },
  'fileData.fileUri': { fileData: { mimeType: 'image/png', fileUri: 'gs://bucket/a.png' } },
  'parts[0].fileData.fileUri': {
    fileData: {
      mimeType: 'image/png',
      fileUri: 'https://generativelanguage.googleapis.com/v1beta/files/abc',
    },
  },
  candidateCount: { candidateCount: 2 },
  responseModalities: { responseModalities: ['TEXT', 'IMAGE'] },
};

describe('official clients', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage();
  });
  afterAll(() => stage.close());

  const translated = livePairs(CLIENTS).filter(({ isNative }) => !isNative);
  const send = (id: string, provider: Recorded, { stream = false, extra = {} }) => {
    const client = CLIENTS.find((one) => one.id === id);
    if (!client) throw new Error(`no client of ${id}`);
    const model = `acme/${provider}`;
    const plain = stream ? client.streamed(model) : client.request(model);
    return stage.gateway.call('POST', plain.path, { body: { ...plain.body, ...extra } });
  };

  it.each(livePairs([...CLIENTS, ...OLDER_CLIENTS, ...AI_SDK_CLIENTS]))(
    verifies(
      'routing.translation.pairs',
      'routing.response-model-logical',
      `get texts and calls, and send back results: ${PAIR_TITLE}`,
    ),
    async ({ client, provider, stream, isNative }) => {
      stage.play(WIRES[provider].twoCalls);
      const question = { text: 'weather?', tools: true };
      const dialogue = client.open(stage.target(provider), question);
      const said = await dialogue.ask(stream);
      expect(said.text).toBe(SAID);
      if (!isNative) expect(said.model).toBe(`acme/${provider}`);
      const parsed = said.calls.map((call) =>
        typeof call.arguments === 'string' ? JSON.parse(call.arguments) : call.arguments,
      );
      expect(parsed).toEqual(TWO_CALLS.map((call) => JSON.parse(call.arguments)));
      dialogue.give([{ text: 'rain' }, { text: 'snow' }]);
      stage.play(WIRES[provider].said('Rain and snow.'));
      expect((await dialogue.ask(stream)).text).toBe('Rain and snow.');
      const text = stage.sent();
      for (const one of ['Oslo', 'Bergen', 'rain', 'snow']) expect(text).toContain(one);
    },
  );

  it.each(livePairs(CLIENTS))(
    verifies(
      'chat.request.translated-fields',
      'routing.response-model-logical',
      `see in a header, as the record does, what the provider did not get: ${PAIR_TITLE}`,
    ),
    async ({ client: { id }, provider, stream, isNative }) => {
      const extra = OWN[id] as object;
      stage.play(WIRES[provider].said('fine'));
      const answer = await send(id, provider, { stream, extra });
      expect(answer.status).toBe(200);
      const lost = isNative ? [] : Object.keys(extra);
      const told = answer.headers.get('x-gateway-dropped-fields')?.split(',') ?? [];
      expect(told.toSorted()).toEqual(lost.toSorted());
      const record = await stage.record();
      expect(record.losses.toSorted()).toEqual(lost.toSorted());
      expect(record.model).toBe(`acme/${provider}`);
      for (const field of lost) expect(stage.sent()).not.toContain(field);
      if (isNative) return;
      const text = JSON.stringify(answer.body);
      expect(text).toContain(`acme/${provider}`);
      expect(text).not.toMatch(/(?:model|modelVersion)\\?":\s*\\?"up\\?"/);
    },
  );

  it.each(translated.filter(({ client }) => client.id === 'messages'))(
    `have what an answer lost in the record: ${PAIR_TITLE}`,
    async ({ client, provider, stream }) => {
      const { weighed } = WIRES[provider];
      if (weighed) stage.play(weighed);
      const said = await client.open(stage.target(provider), { text: 'go' }).ask(stream);
      expect(said.text).toBe('yes!');
      expect((await stage.record()).losses).toEqual(['logprobs']);
    },
  );

  it.each(livePairs(CLIENTS).filter(({ provider }) => provider === 'messages'))(
    `have every class of tokens in the record once: ${PAIR_TITLE}`,
    async ({ client, provider, stream }) => {
      stage.play(WIRES[provider].counted);
      await client.open(stage.target(provider), { text: 'go' }).ask(stream);
      const record = await stage.record();
      expect(record).toMatchObject({ result: 'ok', estimated: false, stream });
      expect(record.usage).toEqual({
        input_tokens: 100,
        cache_read_tokens: 40,
        cache_write_5m_tokens: 10,
        cache_write_1h_tokens: 20,
        output_tokens: 30,
        reasoning_tokens: 12,
        images: 0,
        seconds: 0,
      });
    },
  );

  it.each(['chat', 'messages', 'responses'] as const)(
    verifies(
      'gencontent.translated.rejects',
      'of generate-content are refused what %s would not get, and no provider is asked',
    ),
    async (provider) => {
      const before = stage.sent();
      for (const [field, value] of Object.entries(REFUSED)) {
        const isPart = 'inlineData' in value || 'fileData' in value;
        const extra = isPart ? { contents: [{ parts: [value] }] } : { generationConfig: value };
        const { status, body } = await send('generate-content', provider, { extra });
        expect([field, status, body.error?.status]).toEqual([field, 400, 'INVALID_ARGUMENT']);
        expect(body.error.message).toContain(field);
      }
      expect(stage.sent()).toBe(before);
    },
  );
});
