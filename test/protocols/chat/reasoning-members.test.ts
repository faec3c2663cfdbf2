import { describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { answer, stream, translate } from '../translating.ts';

const TEXT = 'I must read it.';
const CALL = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
const TOOL = { name: 'f', input_schema: { type: 'object' } };
const ASKED = {
  messages: { max_tokens: 9, messages: [{ role: 'user', content: 'go' }], tools: [TOOL] },
  responses: { input: [{ role: 'user', content: 'go' }] },
} as const;
type Client = keyof typeof ASKED;

/** What the client sends after an answer with a call, as the same provider gets it. */
function second(client: Client, told: { content?: object[]; output?: object[] }) {
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
  return translate(client, sent, 'chat').body.messages[1];
}

function whole(client: Client, message: object) {
  const body = { choices: [{ index: 0, message, finish_reason: 'tool_calls' }] };
  return second(client, answer(client, ASKED[client], { target: 'chat', body }));
}

const MEMBERS = [
  [{ reasoning: TEXT }, { reasoning: TEXT }],
  [{ reasoning_content: TEXT }, { reasoning_content: TEXT }],
  [{ reasoning_content: '', reasoning: TEXT }, { reasoning: TEXT }],
  [{ reasoning_content: null, reasoning: TEXT }, { reasoning: TEXT }],
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
        const message = { role: 'assistant', content: '', ...came, tool_calls: [CALL] };
        const {
          role: _role,
          content: _content,
          tool_calls: calls,
          ...rest
        } = whole(client, message);
        expect(rest, client).toEqual(back);
        expect(calls).toHaveLength(1);
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
      const { reasoning, ...rest } = second('messages', { content });
      expect(reasoning).toBe(TEXT);
      expect(rest).not.toHaveProperty('reasoning_content');
    },
  );
});
