import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UNKNOWN } from '../../../src/protocols/capabilities/capabilities-of.ts';
import { translateBetween } from '../../../src/protocols/canonical/translate.ts';
import type {
  CanonicalAnswer,
  CanonicalRequest,
} from '../../../src/protocols/canonical/canonical.ts';
import type { RequestPeek, StreamReader } from '../../../src/protocols/protocol.ts';
import { verifies } from '../../requirements.ts';
import { runsOf } from '../../runs.ts';
import {
  ANSWER,
  atOnce,
  decodeAnswer,
  encodeAnswer,
  encodeOptions,
  encodeRequest,
} from '../../support/protocols.ts';
import { PLAIN_REQUEST } from '../canonical-arbitraries.ts';
import { collectAnswer, framesOf, peekBody, toEvents, toText } from '../codec-laws.ts';
import { PAIRS, ROWS } from '../translation-rows.ts';
import type { TranslationRow } from '../translation-rows.ts';
import { writeTo } from './write-to.ts';

/** Names that vendors take: pages at the rules. */
const TAKEN: Readonly<Record<string, RegExp>> = {
  chat: /^[a-zA-Z0-9_-]{1,64}$/,
  responses: /^[a-zA-Z0-9_-]{1,64}$/,
  messages: /^[a-zA-Z0-9_-]{1,128}$/,
  'generate-content': /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/,
};
const LONG = 'mcp__claude_ai_Cloudflare_Developer_Platform__search_cloudflare_documentation';
const ODD = [
  LONG,
  `${LONG}_2`,
  `${LONG}/`.repeat(3),
  'github.search:issues',
  'github_search:issues',
  '7zip_list',
  '-dash',
  'a b/c',
  'Wetter für Zürich',
  '天気 🌍',
];

const target = {
  model: 'acme/one',
  askUsage: false,
  defaultMaxTokens: 4096,
  capabilities: UNKNOWN,
};

function ask({ codec, peek }: TranslationRow, request: CanonicalRequest): RequestPeek {
  return peek(Buffer.from(toText(encodeRequest(codec, request, target).value)), request.stream);
}

function requestOf(names: readonly string[], isCustom: boolean): CanonicalRequest {
  const [first = ''] = names;
  const tools = names.map((name) => ({
    type: 'function' as const,
    name,
    ...(isCustom ? { custom: {} } : { parameters: { type: 'object', properties: {} } }),
  }));
  const call = { id: 'call_0', name: first, arguments: isCustom ? 'go' : '{}' };
  const content = [{ type: 'text' as const, text: 'fine' }];
  return {
    ...PLAIN_REQUEST,
    tools,
    toolChoice: { name: first },
    turns: [
      ...PLAIN_REQUEST.turns,
      {
        role: 'assistant',
        parts: [{ type: 'tool_call', ...call, ...(isCustom && { custom: true as const }) }],
      },
      {
        role: 'tool',
        parts: [{ type: 'tool_result', callId: 'call_0', name: first, content, isError: false }],
      },
    ],
  };
}

/** Names of tools in a request, wherever they are said; of their declarations first. */
function namesIn(body: any): { declared: string[]; said: Set<string> } {
  const declared = (body.tools[0].functionDeclarations ?? body.tools).map(
    (tool: any) => (tool.function ?? tool.custom ?? tool).name,
  );
  const said = new Set<string>();
  const walk = (value: any): void => {
    if (typeof value !== 'object' || value === null) return;
    if (typeof value.name === 'string') said.add(value.name);
    for (const name of value.allowedFunctionNames ?? []) said.add(name);
    Object.values(value).forEach(walk);
  };
  walk(body);
  return { declared, said };
}

/** An answer that calls each tool by the name that was sent. */
function answerWith(names: readonly string[]): CanonicalAnswer {
  const parts = names.map((name, at) => ({
    type: 'tool_call' as const,
    id: `call_${at + 1}`,
    name,
    arguments: '{"input":"go"}',
  }));
  return { id: 'a', created: 1, parts, stop: { kind: 'tool_calls' }, usage: undefined };
}

const context = { ...ANSWER, model: 'up', keepUsage: true, peek: peekBody(Buffer.from('{}')) };

function wholeNames({ client, provider, peek, wire, answer }: Asked): string[] {
  const bytes = Buffer.from(toText(encodeAnswer(provider.codec, answer, context).value));
  const told = atOnce(wire.readAnswer(bytes, peek, ANSWER));
  return callsOf(decodeAnswer(client.codec, String(told?.body)));
}

function streamedNames({ client, provider, peek, wire, answer }: Asked): string[] {
  const encoder = provider.codec.createEncoder(context);
  const reader = wire.createStream?.({ ...ANSWER, peek }) as StreamReader;
  const chunks = toEvents(answer).flatMap((event) => encoder.write(event) ?? []);
  const out = [...chunks.map((one) => reader.push(one)), reader.end()].flatMap((one) => one ?? []);
  expect(reader.failure).toBeUndefined();
  const decoder = client.codec.createDecoder();
  const events = framesOf(...out).flatMap((frame) => decoder.read(frame));
  const isOver = events.at(-1)?.type === 'end';
  return callsOf(collectAnswer(isOver ? events : [...events, ...decoder.close()]));
}

interface Asked {
  client: TranslationRow;
  provider: TranslationRow;
  peek: RequestPeek;
  wire: ReturnType<typeof translateBetween>;
  answer: CanonicalAnswer;
}

function callsOf(answer: CanonicalAnswer | undefined): string[] {
  return (answer?.parts ?? []).flatMap((part) => (part.type === 'tool_call' ? [part.name] : []));
}

describe('a name of a tool', () => {
  it.each(PAIRS)(
    verifies(
      'translate.tool-names',
      'is one that the provider takes, and comes back as it was: %s',
    ),
    (_pair, client, provider) => {
      const isOpenAI = client.id === 'chat' || client.id === 'responses';
      const wire = translateBetween(client.codec, provider.codec);
      const names = fc.uniqueArray(fc.oneof(fc.constantFrom(...ODD), fc.string({ minLength: 1 })), {
        minLength: 1,
        maxLength: 6,
      });
      fc.assert(
        fc.property(names, fc.boolean(), fc.boolean(), (own, stream, isCustom) => {
          const request = { ...requestOf(own, isCustom && isOpenAI), stream };
          const peek = ask(client, request);
          const options = encodeOptions();
          const sent = namesIn(JSON.parse(String(wire.encode(peek, options))));
          expect(new Set(sent.declared).size).toBe(own.length);
          expect(new Set(sent.declared)).toEqual(sent.said);
          const taken = TAKEN[provider.id] as RegExp;
          for (const [at, name] of sent.declared.entries()) {
            expect(name).toMatch(taken);
            if (taken.test(own[at] as string)) expect(name).toBe(own[at]);
          }
          const asked = { client, provider, peek, wire, answer: answerWith(sent.declared) };
          expect(stream ? streamedNames(asked) : wholeNames(asked)).toEqual(own);
          const fields = options.losses.filter((field) => /tool_choice|\bname/.test(field));
          expect(fields).toEqual([]);
        }),
        {
          numRuns: runsOf(15, 60),
          examples: [
            [ODD.slice(0, 6), true, true],
            [ODD, false, false],
          ],
        },
      );
    },
  );

  const tool = (name: string) => ({ type: 'function' as const, name });
  const sentFor = (names: readonly string[]) =>
    writeTo('chat', 'gpt-4.1', { tools: names.map(tool) }).body.tools.map(
      (one: any) => one.function.name,
    );

  it(
    verifies('translate.tool-names', 'is the same in every request, whatever tools there are'),
    () => {
      const [long] = sentFor([LONG]);
      expect(sentFor(['other', LONG, 'a.b'])[1]).toBe(long);
      expect(long).toMatch(/^mcp__claude_ai_Cloudflare/);
      // The client may have a tool of that very name.
      const [first, second] = sentFor([LONG, long]);
      expect(second).toBe(long);
      expect(first).not.toBe(long);
    },
  );

  it(verifies('translate.tool-names', 'fits what a route states of its model'), () => {
    const capabilities = { name_length: 32, name_marks: '', name_any_start: false };
    const codec = ROWS.find(({ id }) => id === 'chat')!.codec;
    const request = { ...PLAIN_REQUEST, tools: [tool('7-zip list'), tool(LONG), tool('plain')] };
    const { value } = encodeRequest(codec, request, { ...target, capabilities });
    const names = JSON.parse(toText(value)).tools.map((one: any) => one.function.name);
    expect(names[2]).toBe('plain');
    for (const name of names) expect(name).toMatch(/^[a-zA-Z][a-zA-Z0-9]{0,31}$/);
  });

  it(verifies('translate.tool-names', "bounds the name of an answer's schema, too"), () => {
    const output = { type: 'schema' as const, name: `Antwort für ${LONG}`, schema: {} };
    expect(writeTo('chat', 'gpt-4.1', { output }).body.response_format.json_schema.name).toMatch(
      TAKEN['chat'] as RegExp,
    );
    expect(writeTo('responses', 'gpt-4.1', { output }).body.text.format.name).toMatch(
      TAKEN['responses'] as RegExp,
    );
  });
});

describe('a bound of a member', () => {
  const seed = 2 ** 40 + 7;

  it('is kept by what stays the same in every request', () => {
    const first = writeTo('generate-content', 'gemini-2.5-pro', { seed });
    expect(first.body.generationConfig.seed).toBe(7);
    expect(first.losses).toEqual([]);
    expect(writeTo('generate-content', 'gemini-2.5-pro', { seed })).toEqual(first);
    expect(writeTo('chat', 'gpt-4.1', { seed }).body.seed).toBe(seed);
  });

  it('names the stop sequences beyond it', () => {
    const stop = ['1', '2', '3', '4', '5', '6'];
    const openai = writeTo('chat', 'gpt-4.1', { stop });
    expect(openai.body.stop).toEqual(stop.slice(0, 4));
    expect(openai.losses).toEqual(['stop_sequences']);
    expect(writeTo('chat', 'gpt-5-mini', { stop }).body).not.toHaveProperty('stop');
    expect(writeTo('chat', 'llama-3.3-70b', { stop }).body.stop).toEqual(stop);
    const google = writeTo('generate-content', 'gemini-2.5-pro', { stop });
    expect(google.body.generationConfig.stopSequences).toEqual(stop.slice(0, 5));
  });

  it('refuses more tools than the model takes', () => {
    const tools = Array.from({ length: 129 }, (_, at) => ({
      type: 'function' as const,
      name: `t${at}`,
    }));
    expect(() => writeTo('chat', 'gpt-4.1', { tools })).toThrow(
      expect.objectContaining({ code: 'unsupported_feature', param: 'tools' }),
    );
    const allowedTools = ['t0', 't128'];
    expect(writeTo('chat', 'gpt-4.1', { tools, allowedTools }).body.tools).toHaveLength(2);
    expect(writeTo('chat', 'llama-3.3-70b', { tools }).body.tools).toHaveLength(129);
  });
});
