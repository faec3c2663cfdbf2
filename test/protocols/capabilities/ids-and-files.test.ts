import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { Protocol } from '../../../src/protocols/registry.ts';
import { chat } from '../../../src/protocols/chat/chat.ts';
import { generateContent } from '../../../src/protocols/generate-content/generate-content.ts';
import { messages } from '../../../src/protocols/messages/messages.ts';
import type { WireProtocol } from '../../../src/protocols/protocol.ts';

import { responses } from '../../../src/protocols/responses/parts.ts';
import { verifies } from '../../requirements.ts';
import { encodeOptions } from '../../support/protocols.ts';
import { wireTo } from '../spoken.ts';

/** The request as a provider of another protocol receives it. */
function translate(client: WireProtocol, body: object, protocol: Protocol) {
  const address =
    client === generateContent ? { model: 'acme/m', operation: 'generateContent' } : {};
  const peek = client.peek(Buffer.from(JSON.stringify({ model: 'acme/m', ...body })), address);
  const losses: string[] = [];
  const sent = wireTo(client, protocol).encode(peek, encodeOptions({ losses }));
  return { body: JSON.parse(String(sent)), losses };
}

const base64 = (text: string) => Buffer.from(text).toString('base64');
const PDF = base64('%PDF-1.7');
const user = (...content: object[]) => ({ max_tokens: 100, messages: [{ role: 'user', content }] });

describe('ids of tool calls', () => {
  const ids = ['a', 'b'].map((end) => `toolu_${'x'.repeat(60)}${end}`);
  const conversation = {
    max_tokens: 100,
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: [...ids, 'toolu_short'].map((id) => ({
          type: 'tool_use',
          id,
          name: 'f',
          input: {},
        })),
      },
      {
        role: 'user',
        content: [...ids, 'toolu_short'].map((id) => ({ type: 'tool_result', tool_use_id: id })),
      },
    ],
  };

  it(
    verifies(
      'capabilities.ids.length',
      'fit into what chat and Responses take, differ, and are the same in calls and results',
    ),
    () => {
      const inChat = translate(messages, conversation, 'chat').body.messages;
      const called = inChat[1].tool_calls.map((call: { id: string }) => call.id);
      const answered = inChat.slice(2).map((one: { tool_call_id: string }) => one.tool_call_id);
      expect(answered).toEqual(called);
      expect(new Set(called).size).toBe(3);
      expect(called[2]).toBe('toolu_short');
      for (const id of called) expect(id.length).toBeLessThanOrEqual(40);

      const { input } = translate(messages, conversation, 'responses').body;
      const of = (type: string): string[] =>
        input
          .filter((item: { type?: string }) => item.type === type)
          .map((item: { call_id: string }) => item.call_id);
      expect(of('function_call_output')).toEqual(of('function_call'));
      expect(new Set(of('function_call')).size).toBe(3);
      for (const id of of('function_call')) expect(id.length).toBeLessThanOrEqual(64);
    },
  );

  it('are shortened alike in every request, and stay as they are where any length is taken', () => {
    const [first, second] = [0, 1].map(() => translate(messages, conversation, 'chat').body);
    expect(second).toEqual(first);
    const google = translate(messages, conversation, 'generate-content').body;
    expect(google.contents[1].parts[0].functionCall.id).toBe(ids[0]);
  });
});

describe('files', () => {
  it(
    verifies(
      'capabilities.files',
      'are sent to Messages under registered media types, text as text, and named where they must be',
    ),
    () => {
      const image = { type: 'image_url', image_url: { url: 'data:image/jpg;base64,/9j/4AAQ' } };
      const file = (file_data: string, filename?: string) => ({
        type: 'file',
        file: { file_data, filename },
      });
      const content = [
        image,
        file(`data:text/csv;base64,${base64('a,b')}`, 'table.csv'),
        file(`data:application/octet-stream;base64,${base64('plain')}`),
        file(base64('x: 1'), 'notes.txt'),
        file(`data:application/octet-stream;base64,${PDF}`),
        file(PDF, 'paper.pdf'),
      ];
      const sent = translate(chat, user(...content), 'messages').body.messages[0].content;
      const text = (data: string) => ({ type: 'text', media_type: 'text/plain', data });
      const pdf = { type: 'base64', media_type: 'application/pdf', data: PDF };
      expect(sent).toEqual([
        {
          type: 'image',
          source: { type: 'base64', media_type: 'image/jpeg', data: '/9j/4AAQ' },
        },
        { type: 'document', source: text('a,b'), title: 'table.csv' },
        { type: 'document', source: text('plain') },
        { type: 'document', source: text('x: 1'), title: 'notes.txt' },
        { type: 'document', source: pdf },
        { type: 'document', source: pdf, title: 'paper.pdf' },
      ]);

      const source = { type: 'base64', media_type: 'application/pdf', data: PDF };
      const documents = user(
        { type: 'document', source },
        { type: 'document', source, title: 'Report' },
      );
      const names = (body: { file?: { filename: string }; filename?: string }[]) =>
        body.map((part) => part.file?.filename ?? part.filename);
      expect(names(translate(messages, documents, 'chat').body.messages[0].content)).toEqual([
        'document.pdf',
        'Report',
      ]);
      expect(names(translate(messages, documents, 'responses').body.input[0].content)).toEqual([
        'document.pdf',
        'Report',
      ]);
    },
  );

  it('that a model takes neither as bytes nor as text are refused before anything is sent', () => {
    const zip = Buffer.from([0x50, 0x4b, 3, 4, 0xff]).toString('base64');
    const file = { type: 'file', file: { file_data: `data:application/zip;base64,${zip}` } };
    expect(() => translate(chat, user(file), 'messages')).toThrow(
      expect.objectContaining({
        code: 'unsupported_feature',
        message: expect.stringContaining('application/zip'),
      }),
    );
    expect(translate(chat, user(file), 'generate-content').losses).toEqual([]);
  });

  it('in the results of tools become text, too', () => {
    const csv = { type: 'input_file', filename: 'a.csv', file_data: base64('1,2') };
    const input = [
      { role: 'user', content: 'go' },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: [csv] },
    ];
    const { body } = translate(responses, { input }, 'messages');
    expect(body.messages[2].content[0].content).toEqual([
      {
        type: 'document',
        source: { type: 'text', media_type: 'text/plain', data: '1,2' },
        title: 'a.csv',
      },
    ]);
  });

  it(
    verifies(
      'capabilities.base64.standard',
      'in URL-safe base64 are sent in standard base64, inside function responses, too',
    ),
    () => {
      const inlineData = { mimeType: 'image/jpeg', data: '_9j_4AA' };
      const contents = [
        { role: 'user', parts: [{ text: 'see' }, { inlineData }] },
        { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'f', response: { output: 1 }, parts: [{ inlineData }] } },
          ],
        },
      ];
      for (const protocol of ['chat', 'responses', 'messages'] as const) {
        const sent = JSON.stringify(translate(generateContent, { contents }, protocol).body);
        expect(sent.split('/9j/4AA=')).toHaveLength(3);
        expect(sent).not.toContain('_9j');
      }
      const source = { type: 'base64', media_type: 'image/jpeg', data: '_9j_4AA' };
      const asked = user({ type: 'image', source });
      expect(JSON.stringify(translate(messages, asked, 'chat').body)).toContain('/9j/4AA=');
    },
  );
});
