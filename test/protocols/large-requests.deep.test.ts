import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { Protocol } from '../../src/protocols/registry.ts';
import { chat } from '../../src/protocols/chat/chat.ts';
import { CallIds } from '../../src/protocols/generate-content/codec/call-ids.ts';
import { generateContent } from '../../src/protocols/generate-content/generate-content.ts';
import { messages as messagesProtocol } from '../../src/protocols/messages/messages.ts';
import type { WireProtocol } from '../../src/protocols/protocol.ts';

import { responses } from '../../src/protocols/responses/parts.ts';
import { wireTo } from './spoken.ts';

/** Pieces of the small request; the large one has four times as many. */
const FEW = 1_500;
/** Between growth in proportion, which is 4, and growth with the square, which is 16. */
const MAX_GROWTH = 9;
/** More than a function takes as arguments. */
const ARGUMENTS = 150_000;

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
    vendor: 'acme',
    losses: [],
  };
  return JSON.parse(wireTo(client, provider).encode(peek, options).toString()) as object;
}

/** Processor time of four times as many pieces over that of few, each the best of three runs. */
function growthOf(prepare: (count: number) => () => void): number {
  const [few, many] = [prepare(FEW), prepare(4 * FEW)] as const;
  let growth = Infinity;
  let [least, most] = [Infinity, Infinity];
  // Further looks leave out what else the machine does; growth with the square remains 16.
  for (let look = 0; look < 3 || (look < 9 && growth >= MAX_GROWTH); look++) {
    least = Math.min(least, measure(few));
    most = Math.min(most, measure(many));
    growth = most / least;
  }
  return growth;
}

/** Processor time in microseconds. */
function measure(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

describe('requests of very many pieces', () => {
  it('take time in proportion: results of tools in a row', () => {
    const prepare = (count: number) => {
      const all = times(count, (i) => ({ role: 'tool', tool_call_id: `c${i}`, content: 'x' }));
      const calls = times(count, (i) => ({ id: `c${i}`, function: { name: 'f' } }));
      const messages = [{ role: 'assistant', tool_calls: calls }, ...all];
      return () => translate(chat, { messages }, 'responses');
    };
    expect(growthOf(prepare)).toBeLessThan(MAX_GROWTH);
  });

  it('take time in proportion: turns of the assistant', () => {
    const prepare = (count: number) => {
      const messages = times(2 * count, (index) => ({ role: 'assistant', content: `${index}` }));
      return () => translate(messagesProtocol, { max_tokens: 9, messages }, 'chat');
    };
    expect(growthOf(prepare)).toBeLessThan(MAX_GROWTH);
  });

  it('take time in proportion: results between items of tools', () => {
    const prepare = (count: number) => {
      const ids = times(count, (index) => `c${index}`);
      const input = [
        ...ids.map((id) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' })),
        ...ids.flatMap((id) => [
          { type: 'local_shell_call_output', call_id: 's', output: 'x' },
          { type: 'function_call_output', call_id: id, output: 'x' },
        ]),
      ];
      return () => translate(responses, { input }, 'chat');
    };
    expect(growthOf(prepare)).toBeLessThan(MAX_GROWTH);
  });

  it('take time in proportion: signed reasoning and calls in one message', () => {
    const prepare = (count: number) => {
      const message = {
        role: 'assistant',
        reasoning_details: times(2 * count, () => ({})),
        tool_calls: times(2 * count, (index) => ({ id: `c${index}`, function: { name: 'f' } })),
      };
      return () => translate(chat, { messages: [message] }, 'responses');
    };
    expect(growthOf(prepare)).toBeLessThan(MAX_GROWTH);
  });

  it('take time in proportion: contents of the model in a row', () => {
    const content = { role: 'model', parts: [{ functionCall: { name: 'f' } }] };
    const prepare = (count: number) => {
      const contents = times(count, () => content);
      return () => translate(generateContent, { contents }, 'chat');
    };
    expect(growthOf(prepare)).toBeLessThan(MAX_GROWTH);
  });

  it('take time in proportion: calls and their responses', () => {
    const prepare = (count: number) => () => {
      const ids = new CallIds(new Set());
      for (let index = 0; index < count; index++) ids.ofCall(`c${index}`, 'f');
      for (let index = count; index-- > 0;) ids.ofResponse(`c${index}`, 'f');
      for (let index = 0; index < count; index++) ids.ofResponse(undefined, 'other');
    };
    expect(growthOf(prepare)).toBeLessThan(MAX_GROWTH);
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
