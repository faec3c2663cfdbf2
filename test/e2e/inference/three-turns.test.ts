import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import type { Content } from '@google/genai';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import type { TestGateway } from '../../support/gateway.ts';
import {
  ASK,
  DONE,
  nameOf,
  RESULT,
  SCHEMA,
  startStrictGateway,
  TOOL,
  UPSTREAMS,
} from '../../support/stage/strict-upstreams.ts';

const SYSTEM = 'You look things up.';

/** A conversation of an official client, which keeps what it is given. */
interface Talk {
  /** Asks once; ids of the calls of the answer, or its text. */
  ask(model: string, stream: boolean): Promise<string[] | string>;
}

function chatTalk({ url, clientKey }: TestGateway): Talk {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: clientKey, maxRetries: 0 });
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: SYSTEM },
    { role: 'user', content: ASK },
  ];
  const tools = [
    { type: 'function' as const, function: { name: TOOL, parameters: { ...SCHEMA } } },
  ];
  return {
    async ask(model, stream) {
      const body = { model, messages, tools };
      const { choices } = stream
        ? await client.chat.completions.stream(body).finalChatCompletion()
        : await client.chat.completions.create(body);
      const { message } = choices[0]!;
      messages.push(message);
      const calls = message.tool_calls ?? [];
      for (const { id } of calls)
        messages.push({ role: 'tool', tool_call_id: id, content: RESULT });
      return calls.length > 0 ? calls.map(({ id }) => id) : (message.content ?? '');
    },
  };
}

function responsesTalk({ url, clientKey }: TestGateway): Talk {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: clientKey, maxRetries: 0 });
  const input: OpenAI.Responses.ResponseInput = [
    { role: 'developer', content: SYSTEM },
    { role: 'user', content: ASK },
  ];
  const tools = [
    { type: 'function' as const, name: TOOL, parameters: { ...SCHEMA }, strict: false },
  ];
  return {
    async ask(model, stream) {
      const body = { model, input, tools, instructions: SYSTEM, store: false };
      const { output, output_text } = stream
        ? await client.responses.stream(body).finalResponse()
        : await client.responses.create(body);
      input.push(...(output as OpenAI.Responses.ResponseInput));
      const calls = output.flatMap((item) => (item.type === 'function_call' ? [item] : []));
      for (const { call_id } of calls)
        input.push({ type: 'function_call_output', call_id, output: RESULT });
      return calls.length > 0 ? calls.map(({ call_id }) => call_id) : output_text;
    },
  };
}

function messagesTalk({ url, clientKey }: TestGateway): Talk {
  const client = new Anthropic({ baseURL: url, apiKey: clientKey, maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: ASK }];
  const tools = [{ name: TOOL, input_schema: { ...SCHEMA, required: ['q'] } }];
  return {
    async ask(model, stream) {
      const body = { model, messages, tools, system: SYSTEM, max_tokens: 4_096 };
      const { content } = stream
        ? await client.messages.stream(body).finalMessage()
        : await client.messages.create(body);
      messages.push({ role: 'assistant', content });
      const calls = content.filter((block) => block.type === 'tool_use');
      const results = calls.map(({ id }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: RESULT,
      }));
      // Coding tools remind the model in the turn of the results.
      const reminder = { type: 'text' as const, text: 'Keep to the task.' };
      messages.push({ role: 'user', content: [...results, reminder] });
      const texts = content.filter((block) => block.type === 'text');
      return calls.length > 0 ? calls.map(({ id }) => id) : texts.map(({ text }) => text).join('');
    },
  };
}

function generateTalk({ url, clientKey }: TestGateway): Talk {
  const client = new GoogleGenAI({ apiKey: clientKey, httpOptions: { baseUrl: url } });
  const contents: Content[] = [{ role: 'user', parts: [{ text: ASK }] }];
  let made = 0;
  const config = {
    systemInstruction: SYSTEM,
    tools: [{ functionDeclarations: [{ name: TOOL, parametersJsonSchema: SCHEMA }] }],
  };
  return {
    async ask(model, stream) {
      const body = { model, contents, config };
      const answers = [];
      if (stream)
        for await (const one of await client.models.generateContentStream(body)) answers.push(one);
      else answers.push(await client.models.generateContent(body));
      const parts = answers.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
      contents.push({ role: 'model', parts });
      const calls = parts.flatMap(({ functionCall }) => functionCall ?? []);
      const results = calls.map(({ id, name }) => ({
        functionResponse: { ...(id && { id }), name: name ?? '', response: { output: RESULT } },
      }));
      contents.push({ role: 'user', parts: results });
      const told = parts.filter(({ thought }) => !thought).map(({ text = '' }) => text);
      return calls.length > 0 ? calls.map(({ id }) => id ?? `${++made}`) : told.join('');
    },
  };
}

const CLIENTS = {
  chat: chatTalk,
  responses: responsesTalk,
  messages: messagesTalk,
  'generate-content': generateTalk,
};

describe.each(Object.entries(CLIENTS))('a conversation of a %s client', (client, talk) => {
  // The bytes of clients of the same protocol are their own.
  const upstreams = UPSTREAMS.filter(({ protocol }) => protocol !== client);
  let gateway: TestGateway;
  let stop: () => Promise<void>;
  beforeAll(async () => {
    ({ gateway, stop } = await startStrictGateway(upstreams));
  });
  afterAll(() => stop?.());

  /** Three turns; the first model is at an index, each next one so many further. */
  async function expectContinued(at: number, step: number, stream: boolean): Promise<void> {
    const one = talk(gateway);
    const ids: string[] = [];
    for (const turn of [0, 1, 2]) {
      const model = nameOf(upstreams[(at + turn * step) % upstreams.length]!);
      const said = await one.ask(model, stream).catch((cause: unknown) => {
        const words = cause instanceof Error ? cause.message : '';
        throw new Error(`turn ${turn + 1} on ${model}, stream ${stream}: ${words}`, { cause });
      });
      // A turn between the results and a reminder counts as one of the model's: it is done sooner.
      if (turn === 2 || typeof said === 'string') expect(said).toBe(DONE);
      else ids.push(...said);
    }
    expect(ids.length).toBeGreaterThanOrEqual(2);
    expect(new Set(ids).size, ids.join()).toBe(ids.length);
  }

  it.each(upstreams.map((upstream, at) => [nameOf(upstream), at] as const))(
    verifies(
      'translate.three-turns',
      'goes on for three turns from %s, on its route and on others, whole and streamed',
    ),
    async (_name, at) => {
      for (const step of [0, 1])
        for (const stream of [false, true]) await expectContinued(at, step, stream);
    },
  );
});
