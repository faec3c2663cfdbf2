import { describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { CLIENTS, translate } from './translating.ts';

describe('consecutive turns of the assistant', () => {
  const call = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
  const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: id });
  const messages = [
    { role: 'user', content: 'go' },
    { role: 'assistant', content: [{ type: 'text', text: 'one' }, call('a')] },
    { role: 'assistant', content: [{ type: 'text', text: 'two' }, call('b')] },
    { role: 'user', content: [result('a'), result('b')] },
  ];

  it(
    verifies(
      'translate.assistant-turns.joined',
      'are one where a target counts the results behind them',
    ),
    () => {
      const { body: chat } = translate('messages', { max_tokens: 99, messages }, 'chat');
      expect(chat.messages.map(({ role }: { role: string }) => role)).toEqual([
        'user',
        'assistant',
        'tool',
        'tool',
      ]);
      expect(chat.messages[1]).toMatchObject({
        content: 'one\n\ntwo',
        tool_calls: [{ id: 'a' }, { id: 'b' }],
      });
      const { body } = translate('messages', { max_tokens: 99, messages }, 'generate-content');
      expect(body.contents.map(({ role }: { role: string }) => role)).toEqual([
        'user',
        'model',
        'user',
      ]);
      expect(body.contents[1].parts).toHaveLength(4);
      expect(body.contents[2].parts).toHaveLength(2);
    },
  );

  it('are one for a target that has its system texts elsewhere', () => {
    const between = messages.toSpliced(2, 0, { role: 'system', content: 'be brief' } as never);
    const { body } = translate(
      'messages',
      { max_tokens: 99, messages: between },
      'generate-content',
    );
    expect(body.contents).toHaveLength(3);
  });
});

describe('a history without a turn of the user', () => {
  const cases = [
    ['chat', { messages: [{ role: 'system', content: 'say hi' }] }, 'say hi'],
    ['chat', { messages: [{ role: 'user', content: '' }] }, '(empty message)'],
    ['responses', { instructions: 'say hi', input: '' }, 'say hi'],
    ['responses', { input: '' }, '(empty message)'],
    ['messages', { max_tokens: 99, system: 'say hi', messages: [] }, 'say hi'],
    ['generate-content', { contents: [] }, '(empty message)'],
    ['generate-content', { systemInstruction: { parts: [{ text: 'say hi' }] } }, 'say hi'],
  ] as const;
  const asked = {
    chat: (text: string) => ({ messages: [{ role: 'user', content: text }] }),
    responses: (text: string) => ({ input: [{ role: 'user', content: text }] }),
    messages: (text: string) => ({ messages: [{ role: 'user', content: text }] }),
    'generate-content': (text: string) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
  };

  it.each(cases)(
    verifies('translate.no-user-turn', 'is one of the user on every target: %s %j'),
    (client, request, text) => {
      for (const target of CLIENTS.filter((one) => one !== client)) {
        const { body, losses } = translate(client, request, target);
        expect(body).toMatchObject(asked[target](text));
        expect(body).not.toHaveProperty('system');
        expect(body).not.toHaveProperty('systemInstruction');
        expect(losses).toEqual([]);
      }
    },
  );

  it('is refused where nothing that was said can be told', () => {
    const audio = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } };
    const messages = [{ role: 'user', content: [audio] }];
    expect(() => translate('chat', { messages }, 'messages')).toThrow(/nothing that this route/);
  });

  it('gets one in front of the assistant where a target wants that', () => {
    const messages = [
      { role: 'assistant', content: 'welcome' },
      { role: 'user', content: 'hi' },
    ];
    const { body } = translate('chat', { messages }, 'messages');
    expect(body.messages.map(({ role }: { role: string }) => role)).toEqual([
      'user',
      'assistant',
      'user',
    ]);
    expect(translate('chat', { messages }, 'responses').body.input).toHaveLength(2);
  });
});

describe('a result of a tool without its call', () => {
  const requests = {
    chat: {
      messages: [
        { role: 'user', content: 'x' },
        { role: 'tool', tool_call_id: 'gone', content: 'ORPHAN' },
      ],
    },
    responses: {
      input: [
        { role: 'user', content: 'x' },
        { type: 'function_call_output', call_id: 'gone', output: 'ORPHAN' },
      ],
    },
    messages: {
      max_tokens: 99,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x' },
            { type: 'tool_result', tool_use_id: 'gone', content: 'ORPHAN' },
          ],
        },
      ],
    },
    'generate-content': {
      contents: [
        { parts: [{ text: 'x' }] },
        { parts: [{ functionResponse: { name: 'f', response: { output: 'ORPHAN' } } }] },
      ],
    },
  };
  const paths = {
    chat: 'messages[1].tool',
    responses: 'input[1].function_call_output',
    messages: 'messages[0].content[1].tool_result',
    'generate-content': 'contents[1].parts[0].functionResponse',
  };

  it.each(CLIENTS)(
    verifies('translate.orphan-tool-result', 'is left out and named by its path: %s'),
    (client) => {
      for (const target of CLIENTS.filter((one) => one !== client)) {
        const { body, losses } = translate(client, requests[client], target);
        expect(JSON.stringify(body)).not.toContain('ORPHAN');
        expect(losses).toEqual([paths[client]]);
      }
    },
  );

  it(
    verifies('translate.orphan-tool-result', 'leaves no empty turn behind, nor does what it said'),
    () => {
      const input = [
        { role: 'user', content: 'x' },
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gA' },
        { role: 'user', content: 'y' },
      ];
      const { body, losses } = translate('responses', { input }, 'chat');
      expect(body.messages).toEqual([
        { role: 'user', content: 'x' },
        { role: 'user', content: 'y' },
      ]);
      expect(losses).toEqual(['reasoning.encrypted_content']);
    },
  );
});
