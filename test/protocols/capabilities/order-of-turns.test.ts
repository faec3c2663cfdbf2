import { describe, expect, it } from 'vitest';
import type { Capabilities } from '../../../src/protocols/capabilities/capabilities.ts';
import { CHAT_TEMPLATE, MISTRAL } from '../../../src/protocols/capabilities/open-models.ts';
import { verifies } from '../../requirements.ts';
import { encodeOptions } from '../../support/protocols.ts';
import { wireTo } from '../spoken.ts';
import { peekOf, rowOf } from '../translating.ts';
import type { Spoken } from '../translating.ts';

interface Asked {
  model?: string;
  capabilities?: Partial<Capabilities>;
  target?: Spoken;
}

/** A client's request as a model behind another protocol receives it. */
function ask(client: Spoken, body: object, { target = 'chat', ...asked }: Asked) {
  const losses: string[] = [];
  const wire = wireTo(rowOf(client).protocol, target);
  const sent = wire.encode(peekOf(client, body), encodeOptions({ losses, ...asked }));
  return { ...JSON.parse(String(sent)), losses };
}

const rolesOf = (messages: { role: string }[]) => messages.map(({ role }) => role);
const NINE = /^[A-Za-z0-9]{9}$/;
const IMAGE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } };

/** A turn of a coding tool: two calls, their results, and a reminder with them. */
const round = (ids: readonly string[], ...behind: object[]) => [
  { role: 'user', content: 'go' },
  { role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })) },
  {
    role: 'user',
    content: [
      ...ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: `of ${id}` })),
      ...behind,
    ],
  },
];
const IDS = ['toolu_01A09q90qw90lq917835lq9', 'functions.read:0', 'abcDEF123'];
const REMINDER = { type: 'text', text: 'Mind the tests.' };

describe('models of Mistral', () => {
  const conversation = { max_tokens: 9, messages: round(IDS, REMINDER) };

  it(
    verifies(
      'capabilities.exact-ids',
      'get ids of nine letters and digits, the same in calls, results and every later request',
    ),
    () => {
      for (const asked of [
        { model: 'mistral-large-latest' },
        { model: 'nvidia/mistral-nemo-minitron' },
        { model: 'our-own', capabilities: MISTRAL },
        { model: 'our-own', capabilities: { exact_tool_id_length: 9 } },
      ]) {
        const { messages } = ask('messages', conversation, asked);
        const called = messages[1].tool_calls.map(({ id }: { id: string }) => id);
        for (const id of called) expect(id).toMatch(NINE);
        expect(new Set(called).size).toBe(3);
        expect(called[2]).toBe('abcDEF123');
        const answered = messages.slice(2, 5).map((one: { tool_call_id: string }) => ({ ...one }));
        expect(answered).toMatchObject(
          IDS.map((id, at) => ({ tool_call_id: called[at], content: `of ${id}` })),
        );
        expect(ask('messages', conversation, asked).messages).toEqual(messages);
      }
      const input = [
        { role: 'user', content: 'go' },
        { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: '1' },
      ];
      const { messages } = ask('responses', { input }, { model: 'devstral-2512' });
      expect(messages[2].tool_call_id).toMatch(NINE);
      expect(messages[1].tool_calls[0].id).toBe(messages[2].tool_call_id);
    },
  );

  it(
    verifies(
      'capabilities.order-of-turns',
      'read a turn of the assistant between results and the user, images in results too',
    ),
    () => {
      const sent = ask('messages', conversation, { model: 'codestral-latest' }).messages;
      const called = ['user', 'assistant', 'tool', 'tool', 'tool'];
      expect(rolesOf(sent)).toEqual([...called, 'assistant', 'user']);
      expect(sent.at(-2).content).not.toBe('');
      expect(sent.at(-1).content).toBe('Mind the tests.');

      const shown = round(['a', 'b']);
      const results = shown[2]!.content as { content: unknown }[];
      results[0]!.content = [IMAGE];
      for (const behind of [[], [{ role: 'user', content: 'And now?' }]]) {
        const body = { max_tokens: 9, messages: [...shown, ...behind] };
        const { messages, losses } = ask('messages', body, { model: 'pixtral-12b' });
        expect(rolesOf(messages)).toEqual([...called.slice(0, 4), 'assistant', 'user']);
        const caption = messages.at(-1).content[0].text;
        expect(caption).toContain(messages[1].tool_calls[0].id);
        expect(messages.at(-1).content[1].type).toBe('image_url');
        expect(JSON.stringify(messages.at(-1))).toContain(behind.length > 0 ? 'And now?' : '');
        expect(losses).toEqual(['messages.content.tool_result.content.image']);
      }
      const other = ask('messages', conversation, { model: 'gpt-4.1' }).messages;
      expect(rolesOf(other)).toEqual([...called, 'user']);
    },
  );

  it('are asked last by the user or a tool, first by the user, and in turn', () => {
    const messages = [
      { role: 'assistant', content: 'Hello.' },
      { role: 'user', content: 'one' },
      { role: 'user', content: 'two' },
      { role: 'assistant', content: 'Once upon' },
    ];
    const sent = ask('messages', { max_tokens: 9, messages }, { model: 'ministral-3:8b' }).messages;
    expect(rolesOf(sent)).toEqual(['user', 'assistant', 'user', 'assistant', 'user']);
    expect(JSON.stringify(sent[2].content)).toMatch(/one.*two/);
    const ended = ask('messages', { max_tokens: 9, messages: round(['a']) }, { model: 'mistral' });
    expect(ended.messages.at(-1).role).toBe('tool');
  });
});

describe('system texts', () => {
  const developer = (text: string) => ({
    role: 'developer',
    content: [{ type: 'input_text', text }],
  });
  const user = (text: string) => ({ role: 'user', content: [{ type: 'input_text', text }] });
  const codex = {
    instructions: 'You are Codex.',
    input: [
      developer('Sandbox.'),
      user('hi'),
      { role: 'assistant', content: [{ type: 'output_text', text: 'hello' }] },
      developer('Plan now.'),
      user('go'),
    ],
  };
  const WHOLE = 'You are Codex.\n\nSandbox.\n\nPlan now.';

  it(
    verifies(
      'capabilities.system-texts',
      'are one message in front for chat templates, whichever client and protocol they are of',
    ),
    () => {
      for (const asked of [
        { model: 'Qwen/Qwen3.5-27B' },
        { model: 'gpt-oss:120b' },
        { model: 'mistral-small' },
        { model: 'our-own', capabilities: CHAT_TEMPLATE },
      ]) {
        const { messages } = ask('responses', codex, asked);
        expect(rolesOf(messages)).toEqual(['system', 'user', 'assistant', 'user']);
        expect(messages[0].content).toBe(WHOLE);
      }
      const contents = [{ role: 'user', parts: [{ text: 'hi' }] }];
      const systemInstruction = { parts: [{ text: 'One.' }, { text: 'Two.' }] };
      const google = ask('generate-content', { contents, systemInstruction }, { model: 'qwen3.8' });
      expect(google.messages[0]).toEqual({ role: 'system', content: 'One.\n\nTwo.' });
      const late = [
        { role: 'user', content: 'hi' },
        { role: 'system', content: 'Two.' },
        { role: 'assistant', content: 'hello' },
      ];
      const claude = { max_tokens: 9, system: 'One.', messages: late };
      const told = ask('messages', claude, { capabilities: CHAT_TEMPLATE }).messages;
      expect(rolesOf(told)).toEqual(['system', 'user', 'assistant']);
      const served = ask('messages', claude, { model: 'qwen3.6', target: 'responses' });
      expect(rolesOf(served.input)).toEqual(['system', 'user', 'assistant']);
    },
  );

  it('stay where they are for models that take them there', () => {
    const { messages } = ask('responses', codex, { model: 'gpt-4.1' });
    const roles = ['system', 'system', 'user', 'assistant', 'system', 'user'];
    expect(rolesOf(messages)).toEqual(roles);
  });

  it(
    verifies(
      'capabilities.system-texts',
      'begin the first turn of the user where a model knows none',
    ),
    () => {
      const { messages } = ask('responses', codex, { model: 'google/gemma-2-9b-it' });
      expect(rolesOf(messages)).toEqual(['user', 'assistant', 'user']);
      const texts = messages[0].content.map(({ text }: { text: string }) => text);
      expect(texts).toEqual(['You are Codex.', 'Sandbox.', 'Plan now.', 'hi']);
      const google = ask('responses', codex, { model: 'gemma-3-27b', target: 'generate-content' });
      expect(google).not.toHaveProperty('systemInstruction');
      expect(rolesOf(google.contents)).toEqual(['user', 'model', 'user']);
      const onlySystem = { instructions: 'Say hi.', input: [] };
      expect(ask('responses', onlySystem, { model: 'gemma3' }).messages).toEqual([
        { role: 'user', content: 'Say hi.' },
      ]);
    },
  );
});
