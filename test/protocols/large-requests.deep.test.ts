import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { describe, expect, it } from 'vitest';
import type { Protocol } from '../../src/core/protocol-id.ts';
import { chat } from '../../src/protocols/chat/chat.ts';
import { CallIds } from '../../src/protocols/generate-content/codec/call-ids.ts';
import { generateContent } from '../../src/protocols/generate-content/generate-content.ts';
import { messages as messagesProtocol } from '../../src/protocols/messages/messages.ts';
import type { WireProtocol } from '../../src/protocols/protocol.ts';
import { wireTo } from '../../src/protocols/registry.ts';
import { responses } from '../../src/protocols/responses/responses.ts';

/** Some hundred milliseconds are usual; work that grows with the square takes a quarter of a minute. */
const MAX_MS = 8_000;
const MANY = 40_000;
/** More than a function takes as arguments. */
const ARGUMENTS = 200_000;

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

function translate(client: WireProtocol, body: object, provider: Protocol): object {
  const address = { model: 'm', operation: 'generateContent' };
  const peek = client.peek(Buffer.from(JSON.stringify({ model: 'm', ...body })), address);
  const options = {
    model: 'up',
    askUsage: true,
    defaultMaxTokens: 100,
    account: 'prov_test',
    losses: [],
  };
  return JSON.parse(wireTo(client, provider).encode(peek, options).toString()) as object;
}

function measure(work: () => void): number {
  const startedAt = performance.now();
  work();
  return performance.now() - startedAt;
}

describe('requests of very many pieces', () => {
  it('take time in proportion: results of tools in a row', () => {
    const all = times(MANY, (index) => ({ role: 'tool', tool_call_id: `c${index}`, content: 'x' }));
    const calls = times(MANY, (index) => ({ id: `c${index}`, function: { name: 'f' } }));
    const messages = [{ role: 'assistant', tool_calls: calls }, ...all];
    expect(measure(() => translate(chat, { messages }, 'responses'))).toBeLessThan(MAX_MS);
  });

  it('take time in proportion: turns of the assistant, and results between items of tools', () => {
    const messages = times(2 * MANY, (index) => ({ role: 'assistant', content: `${index}` }));
    const joined = () => translate(messagesProtocol, { max_tokens: 9, messages }, 'chat');
    expect(measure(joined)).toBeLessThan(MAX_MS);
    const ids = times(MANY, (index) => `c${index}`);
    const input = [
      ...ids.map((id) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' })),
      ...ids.flatMap((id) => [
        { type: 'local_shell_call_output', call_id: 's', output: 'x' },
        { type: 'function_call_output', call_id: id, output: 'x' },
      ]),
    ];
    expect(measure(() => translate(responses, { input }, 'chat'))).toBeLessThan(MAX_MS);
  });

  it('take time in proportion: signed reasoning and calls in one message', () => {
    const message = {
      role: 'assistant',
      reasoning_details: times(2 * MANY, () => ({})),
      tool_calls: times(2 * MANY, (index) => ({ id: `c${index}`, function: { name: 'f' } })),
    };
    expect(measure(() => translate(chat, { messages: [message] }, 'responses'))).toBeLessThan(
      MAX_MS,
    );
  });

  it('take time in proportion: contents of the model in a row', () => {
    const content = { role: 'model', parts: [{ functionCall: { name: 'f' } }] };
    const contents = times(MANY, () => content);
    expect(measure(() => translate(generateContent, { contents }, 'chat'))).toBeLessThan(MAX_MS);
  });

  it('take time in proportion: calls and their responses', () => {
    const ids = new CallIds(new Set());
    const count = 5 * MANY;
    const spent = measure(() => {
      for (let index = 0; index < count; index++) ids.ofCall(`c${index}`, 'f');
      for (let index = count; index-- > 0;) ids.ofResponse(`c${index}`, 'f');
      for (let index = 0; index < count; index++) ids.ofResponse(undefined, 'other');
    });
    expect(spent).toBeLessThan(MAX_MS);
  });

  it('may hold more parts than a function takes arguments', () => {
    const said = times(ARGUMENTS, () => ({ type: 'text', text: 'x' }));
    const asked = { role: 'user', content: 'x' };
    const spoken = { messages: [{ role: 'system', content: said }, asked] };
    expect(translate(chat, spoken, 'generate-content')).toHaveProperty(
      `systemInstruction.parts.${ARGUMENTS - 1}`,
    );
    const answered = {
      messages: [
        { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f' } }] },
        { role: 'tool', tool_call_id: 'c', content: 'x' },
        { role: 'user', content: said },
      ],
    };
    for (const provider of ['messages', 'generate-content'] as const)
      expect(JSON.stringify(translate(chat, answered, provider)).length).toBeGreaterThan(ARGUMENTS);
    const input = [
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { role: 'assistant', content: times(ARGUMENTS, () => ({ type: 'output_text', text: 'x' })) },
    ];
    expect(translate(responses, { input }, 'messages')).toHaveProperty(
      `messages.1.content.${ARGUMENTS}`,
    );
  });

  it('may hold more unknown kinds of content than a function takes arguments', () => {
    const content = times(ARGUMENTS, (index) => ({ type: `kind_${index}` }));
    const body = {
      messages: [{ role: 'user', content: [...content, { type: 'text', text: 'x' }] }],
    };
    expect(translate(chat, body, 'messages')).toHaveProperty('messages.0.content', 'x');
  });
});

describe('the signatures of a message', () => {
  it('go to the first of several calls that have one id', () => {
    const foreign = Buffer.from(`GWR1${JSON.stringify(['generate-content', 'sig'])}`);
    const call = { id: 'same', type: 'function', function: { name: 'f', arguments: '{}' } };
    const message = {
      role: 'assistant',
      tool_calls: [call, call],
      reasoning_details: [
        { type: 'reasoning.encrypted', data: foreign.toString('base64'), id: 'same' },
      ],
    };
    const body = translate(chat, { messages: [message] }, 'generate-content');
    expect(body).toHaveProperty('contents.1.parts.0.thoughtSignature', 'sig');
    expect(body).not.toHaveProperty('contents.1.parts.1.thoughtSignature');
  });
});
