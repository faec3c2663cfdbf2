import { describe, expect, it } from 'vitest';

import { verifies } from '../../requirements.ts';
import { answer, stream } from '../translating.ts';
import type { Spoken } from '../translating.ts';

const NO_FUNCTION = { name: '', arguments: '' };
const NO_CUSTOM = { name: '', input: '' };
const REQUEST = {
  chat: { messages: [{ role: 'user', content: 'go' }] },
  messages: { max_tokens: 9, messages: [{ role: 'user', content: 'go' }] },
  responses: { input: 'go' },
  'generate-content': { contents: [{ role: 'user', parts: [{ text: 'go' }] }] },
} as const;
/** Clients of other protocols than the provider's. */
const clientsOf = (target: Spoken) =>
  (Object.keys(REQUEST) as Spoken[]).filter((client) => client !== target);

const completion = (message: object, finish_reason = 'stop') => ({
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
});
const chunk = (delta: object, finish_reason = '') => ({
  id: 'c',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta, finish_reason }],
});
const candidate = (parts: readonly object[]) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
});

/** A call with every member, those that are not meant empty. */
const CALL = {
  id: 'c1',
  type: 'function',
  function: { name: 'f', arguments: '{"a":1}' },
  custom: NO_CUSTOM,
};
/** Members of a message that says something else. */
const ZEROS = { refusal: '', tool_calls: [], function_call: NO_FUNCTION, audio: { data: '' } };
const NO_CALL = { id: '', type: '', function: NO_FUNCTION, custom: NO_CUSTOM };
const NO_PARTS = {
  text: '',
  functionCall: { id: '', name: '', args: {} },
  functionResponse: { id: '', name: '', response: {} },
  inlineData: { mimeType: '', data: '' },
  fileData: { mimeType: '', fileUri: '' },
};

const saysHi = (told: string): void => {
  expect(told).toContain('hi');
  expect(told).not.toMatch(/"(tool_use|function_call|functionCall|tool_calls|custom_tool_call)"/);
};
const callsF = (told: string): void => {
  expect(told).toMatch(/"name":"f"/);
  expect(told).toMatch(/\\?"a\\?": ?1/);
  expect(told).not.toMatch(/"name":""|custom/);
};

describe('servers that write every member always', () => {
  it.each(clientsOf('chat'))(
    verifies('answers.no-phantom-calls', 'make no call of an answer of chat to %s'),
    (client) => {
      const ask = REQUEST[client];
      for (const zeros of [ZEROS, { tool_calls: [NO_CALL] }]) {
        const body = completion({ content: 'hi', ...zeros });
        saysHi(JSON.stringify(answer(client, ask, { target: 'chat', body })));
        const events = [
          chunk({ content: 'hi', ...zeros }),
          chunk({ content: '', ...zeros }, 'stop'),
        ];
        saysHi(stream(client, { ...ask, stream: true }, { target: 'chat', events }));
      }
    },
  );

  it.each(clientsOf('chat'))(
    verifies('answers.no-phantom-calls', 'hide no call of chat from %s'),
    (client) => {
      const ask = REQUEST[client];
      const message = { ...ZEROS, content: '', tool_calls: [CALL] };
      const body = completion(message, 'tool_calls');
      callsF(JSON.stringify(answer(client, ask, { target: 'chat', body })));
      const piece = (text: string, name = '') => ({
        ...chunk({ tool_calls: [{ index: 0, ...CALL, function: { name, arguments: text } }] }),
      });
      const events = [piece('{', 'f'), piece('"a":1}'), chunk({}, 'tool_calls')];
      callsF(stream(client, { ...ask, stream: true }, { target: 'chat', events }));
    },
  );

  it.each(clientsOf('generate-content'))(
    verifies('answers.no-phantom-calls', 'neither make nor hide a call of generate-content to %s'),
    (client) => {
      const ask = REQUEST[client];
      const said = candidate([NO_PARTS, { ...NO_PARTS, text: 'hi' }]);
      const call = { name: 'f', args: { a: 1 } };
      const called = candidate([{ ...NO_PARTS, functionCall: call }]);
      const target = 'generate-content';
      saysHi(JSON.stringify(answer(client, ask, { target, body: said })));
      callsF(JSON.stringify(answer(client, ask, { target, body: called })));
      const streamed = { ...ask, stream: true };
      saysHi(stream(client, streamed, { target, events: [said] }));
      callsF(stream(client, streamed, { target, events: [called] }));
    },
  );

  it.each([
    [
      'chat',
      completion({ tool_calls: [{ ...CALL, function: { name: '', arguments: '{"a":1}' } }] }),
    ],
    [
      'responses',
      {
        output: [{ type: 'function_call', call_id: 'c1', name: '', arguments: '{"a":1}' }],
        status: 'completed',
      },
    ],
    [
      'messages',
      {
        type: 'message',
        content: [{ type: 'tool_use', id: 'c1', name: '', input: { a: 1 } }],
        stop_reason: 'tool_use',
      },
    ],
    ['generate-content', candidate([{ functionCall: { args: { a: 1 } } }])],
  ] as const)(
    verifies('answers.no-phantom-calls', 'that leave out the name of a call give no answer: %s'),
    (target, body) => {
      for (const client of clientsOf(target))
        expect(answer(client, REQUEST[client], { target, body }), client).toBeUndefined();
    },
  );

  it(
    verifies(
      'answers.no-phantom-calls',
      'that leave out the name of a call end a stream by an error',
    ),
    () => {
      const call = { index: 0, id: 'c1', function: { name: '', arguments: '{"a":1}' } };
      const given = { target: 'chat', events: [chunk({ tool_calls: [call] })] } as const;
      expect(() => stream('messages', { ...REQUEST.messages, stream: true }, given)).toThrow(
        'the provider called a tool without a name',
      );
    },
  );
});
