import { describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { toSignatureText } from '../../../src/protocols/canonical/reasoning-token.ts';
import type { EncodeOptions } from '../../../src/protocols/protocol.ts';
import { encodeOptions } from '../../support/protocols.ts';
import { wireTo } from '../spoken.ts';
import { answer, peekOf, rowOf, stream } from '../translating.ts';

const TEXT = 'I must read it.';
const CALL = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
const TOOL = { name: 'f', input_schema: { type: 'object' } };
const ASKED = {
  messages: { max_tokens: 9, messages: [{ role: 'user', content: 'go' }], tools: [TOOL] },
  responses: { input: [{ role: 'user', content: 'go' }] },
} as const;
type Client = keyof typeof ASKED;
const LOST: Readonly<Record<Client, string>> = {
  messages: 'messages.content.thinking.signature',
  responses: 'reasoning.encrypted_content',
};

/** What the client sends after an answer with a call, as a provider gets it; default the same. */
function second(
  client: Client,
  told: { content?: object[]; output?: object[] },
  provider: Partial<EncodeOptions> = {},
) {
  const result = { type: 'tool_result', tool_use_id: 'call_1', content: 'x' };
  const sent =
    client === 'messages'
      ? {
          ...ASKED.messages,
          messages: [
            ...ASKED.messages.messages,
            { role: 'assistant', content: told.content },
            { role: 'user', content: [result] },
          ],
        }
      : {
          input: [
            ...ASKED.responses.input,
            ...told.output!,
            { type: 'function_call_output', call_id: 'call_1', output: 'x' },
          ],
        };
  const losses: string[] = [];
  const wire = wireTo(rowOf(client).protocol, 'chat');
  const bytes = wire.encode(peekOf(client, sent), encodeOptions({ losses, ...provider }));
  return { message: JSON.parse(bytes.toString()).messages[1], losses };
}

function whole(client: Client, came: object) {
  const message = { role: 'assistant', content: '', ...came, tool_calls: [CALL] };
  const body = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
  return answer(client, ASKED[client], { target: 'chat', body });
}

/** The members of the assistant's message beside its call, by which reasoning comes back. */
function reasoningIn({ message }: ReturnType<typeof second>): object {
  const { role: _role, content, tool_calls: calls, ...rest } = message;
  expect(calls).toHaveLength(1);
  return Array.isArray(content) ? { ...rest, content } : rest;
}

/** Content of answers with reasoning in it; other answers have none. */
const THOUGHT_PART = { type: 'thinking', thinking: [{ type: 'text', text: TEXT }] };
const SAID = { type: 'text', text: 'So.' };
const MEMBERS = [
  [{ reasoning: TEXT }, { reasoning: TEXT }],
  [{ reasoning_content: TEXT }, { reasoning_content: TEXT }],
  [{ reasoning_content: '', reasoning: TEXT }, { reasoning: TEXT }],
  [{ reasoning_content: null, reasoning: TEXT }, { reasoning: TEXT }],
  [{ content: [THOUGHT_PART, SAID] }, { content: [THOUGHT_PART, SAID] }],
  [
    { reasoning_details: [{ type: 'reasoning.text', text: TEXT, format: 'x-v1', index: 0 }] },
    { reasoning_details: [{ type: 'reasoning.text', text: TEXT, format: 'x-v1', index: 0 }] },
  ],
] as const;

describe('reasoning of a chat provider', () => {
  it.each(MEMBERS)(
    verifies('translate.reasoning-member', 'goes back under the name that it came with: %j'),
    (came, back) => {
      for (const client of ['messages', 'responses'] as const) {
        const again = second(client, whole(client, came));
        expect(reasoningIn(again), client).toEqual(back);
        expect(again.losses).toEqual([]);
      }
    },
  );

  it(
    verifies('translate.reasoning-member', 'goes back under that name also where it was streamed'),
    () => {
      const chunk = (delta: object, reason: string | null = null) => ({
        choices: [{ index: 0, delta, finish_reason: reason }],
      });
      const events = [
        chunk({ role: 'assistant', content: '', reasoning: 'I must ' }),
        chunk({ content: '', reasoning: 'read it.' }),
        chunk({ tool_calls: [{ index: 0, ...CALL }] }),
        chunk({}, 'tool_calls'),
      ];
      const asked = { ...ASKED.messages, stream: true };
      const told = stream('messages', asked, { target: 'chat', events });
      const [, signature] = /"signature":"([^"]+)"/.exec(told)!;
      const content = [
        { type: 'thinking', thinking: TEXT, signature },
        { type: 'tool_use', id: 'call_1', name: 'f', input: {} },
      ];
      expect(reasoningIn(second('messages', { content }))).toEqual({ reasoning: TEXT });
    },
  );

  it.each(MEMBERS)(
    verifies('translate.reasoning-vendor', 'goes to no other vendor, and is named: %j'),
    (came, back) => {
      for (const client of ['messages', 'responses'] as const) {
        const told = whole(client, came);
        const other = second(client, told, { account: 'prov_other', vendor: 'other' });
        expect(reasoningIn(other), client).toEqual({});
        expect(other.losses).toEqual([LOST[client]]);
        const same = second(client, told, { account: 'prov_other' });
        expect(reasoningIn(same), client).toEqual(back);
        expect(same.losses).toEqual([]);
      }
    },
  );

  it.each(['deepseek-v4-pro', 'kimi-k2.6'])(
    verifies('capabilities.unreasoned-call', 'is put in front of a call that has none: %s'),
    (model) => {
      const told = whole('messages', MEMBERS[0][0]);
      const moved = second('messages', told, { vendor: 'other', model });
      expect(reasoningIn(moved)).toEqual({ reasoning_content: '.' });
      const [, call] = told.content;
      const bare = second('messages', { content: [call] }, { model });
      expect(reasoningIn(bare)).toEqual({ reasoning_content: '.' });
      expect(reasoningIn(second('messages', told, { model }))).toEqual(MEMBERS[0][1]);
    },
  );

  it('goes back as it came where an older signature does not name the vendor', () => {
    const signature = toSignatureText({ origin: 'chat', value: '{}' }, 'messages');
    const content = [
      { type: 'thinking', thinking: TEXT, signature },
      { type: 'tool_use', id: 'call_1', name: 'f', input: {} },
    ];
    const again = second('messages', { content }, { vendor: 'other' });
    expect(reasoningIn(again)).toEqual({ reasoning_content: TEXT });
  });
});
