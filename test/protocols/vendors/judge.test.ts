import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROVIDERS } from '../../../src/providers/registry.ts';
import { verifies } from '../../requirements.ts';
import { runsOf } from '../../runs.ts';
import { CLIENTS } from '../translating.ts';
import type { Spoken } from '../translating.ts';
import { CHAT_BODY } from '../whole-requests/chat.ts';
import { GENERATE_CONTENT_BODY } from '../whole-requests/generate-content.ts';
import { MESSAGES_BODY } from '../whole-requests/messages.ts';
import { RESPONSES_BODY } from '../whole-requests/responses.ts';
import { marked } from '../whole-requests/shapes.ts';
import { send } from '../whole-requests/silent-losses.ts';
import { requestsOf } from './counts.ts';
import { EDGES } from './edges.ts';
import { faultsOf } from './judge.ts';

const BODIES: Readonly<Record<Spoken, fc.Arbitrary<object>>> = {
  chat: CHAT_BODY,
  responses: RESPONSES_BODY,
  messages: MESSAGES_BODY,
  'generate-content': GENERATE_CONTENT_BODY,
};

const MODELS: Readonly<Record<Spoken, readonly string[]>> = {
  chat: ['gpt-4o', 'gpt-5.2'],
  responses: ['gpt-4o', 'gpt-5.2'],
  messages: ['claude-haiku-4-5', 'claude-opus-4-8'],
  'generate-content': ['gemini-2.5-pro', 'gemini-3-pro-preview'],
};

/** An image that cannot be fitted: the client is told the refusal of its provider. */
const UNREADABLE = 'image/tiff';

interface Turn {
  /** Absent where it is that of the other form. */
  sent?: object;
}

const PAIRS = CLIENTS.flatMap((client) =>
  CLIENTS.filter((provider) => provider !== client).map((provider) => ({ client, provider })),
);

/** Vendors of chat with bounds of their own. */
const OTHERS = CLIENTS.filter((client) => client !== 'chat').flatMap((client) => [
  { client, vendor: 'mistral' as const, model: 'mistral-large-2512' },
  { client, vendor: 'cohere' as const, model: 'command-a-03-2025' },
]);

describe("a vendor's own schema", () => {
  it.each(PAIRS)(
    verifies('translate.schema-judge', 'finds no fault with a request: $client to $provider'),
    ({ client, provider }) => {
      const bodies = fc
        .tuple(BODIES[client], EDGES[client])
        .map(([body, edges]) => marked({ ...body, ...edges }) as object);
      fc.assert(
        fc.property(bodies, fc.constantFrom(...MODELS[provider]), (body, model) => {
          const sent = send({ client, provider, model }, body);
          if (sent) expect(faultsOf(provider, JSON.parse(sent.text))).toEqual([]);
        }),
        { seed: 20_261_129, numRuns: runsOf(25, 200) },
      );
    },
  );

  it.each(PAIRS)(
    verifies('translate.schema-judge', 'finds no fault with recorded ones: $client to $provider'),
    ({ client, provider }) => {
      const folder = fileURLToPath(
        new URL(`../../fixtures/pairs/${client}-${provider}/`, import.meta.url),
      );
      const turns = readdirSync(folder).flatMap((file) => {
        const forms = JSON.parse(readFileSync(folder + file, 'utf8')) as Record<string, Turn[]>;
        return Object.values(forms).flatMap((all) =>
          all.flatMap(({ sent }) => (sent ? [{ file, sent }] : [])),
        );
      });
      expect(turns.length).toBeGreaterThan(10);
      const judged = turns.filter(({ sent }) => !JSON.stringify(sent).includes(UNREADABLE));
      expect(judged.length).toBeGreaterThan(turns.length - 5);
      for (const { file, sent } of judged) expect(faultsOf(provider, sent), file).toEqual([]);
    },
  );

  it.each(OTHERS)(
    verifies(
      'translate.schema-judge',
      'finds no fault with a request to $vendor, drawn and recorded: $client',
    ),
    ({ client, vendor, model }) => {
      const { capabilities, quirks } = PROVIDERS.get(vendor)!;
      const options = { capabilities, quirks: quirks?.chat, askUsage: false };
      const judge = (body: object) => {
        const sent = send({ client, provider: 'chat', model }, body, options);
        if (sent) expect(faultsOf(vendor, JSON.parse(sent.text))).toEqual([]);
      };
      for (const body of requestsOf(client)) judge(body);
      const bodies = fc
        .tuple(BODIES[client], EDGES[client])
        .map(([body, edges]) => marked({ ...body, ...edges }) as object);
      fc.assert(fc.property(bodies, judge), { seed: 20_261_129, numRuns: runsOf(25, 200) });
    },
  );

  it('finds what vendors refuse', () => {
    const message = { role: 'user', content: 'hi' };
    const tool = (name: string) => ({ type: 'function', function: { name } });
    const chat = { model: 'm', messages: [message] };
    expect(faultsOf('chat', chat)).toEqual([]);
    for (const wrong of [
      { ...chat, tools: [tool('n'.repeat(65))] },
      { ...chat, tools: [tool('a.b')] },
      { ...chat, stop: ['1', '2', '3', '4', '5'] },
      { ...chat, temperature: 3 },
      { ...chat, messages: [] },
    ])
      expect(faultsOf('chat', wrong)).not.toEqual([]);
    const own = { model: 'm', max_tokens: 9, messages: [message] };
    expect(faultsOf('messages', own)).toEqual([]);
    expect(faultsOf('messages', { ...own, temperature: 1.5 })).not.toEqual([]);
    expect(faultsOf('messages', { ...own, seed: 1 })).not.toEqual([]);
    const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
    expect(faultsOf('generate-content', { contents })).toEqual([]);
    const generationConfig = { seed: 2 ** 31 };
    expect(faultsOf('generate-content', { contents, generationConfig })).not.toEqual([]);
    expect(faultsOf('responses', { model: 'm', input: 'hi', max_output_tokens: 3 })).not.toEqual(
      [],
    );
  });
});
