import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { messagesCodec } from '../../../src/protocols/messages/codec/messages-codec.ts';
import { peekMessages } from '../../../src/protocols/messages/messages-request.ts';
import { decodeRequest } from '../../support/protocols.ts';

const decode = (fields: object) =>
  decodeRequest(
    messagesCodec,
    peekMessages(
      Buffer.from(JSON.stringify({ model: 'm', max_tokens: 9, messages: [], ...fields })),
    ),
  );
const decodeContent = (content: unknown, role = 'user') =>
  decode({ messages: [{ role, content }] });

describe('a request read for another protocol', () => {
  it('has its system text in front and results of tools in turns of their own', () => {
    const { turns } = decode({
      system: 'be brief',
      messages: [
        {
          role: 'assistant',
          content: ['a', 'b'].map((id) => ({ type: 'tool_use', id, name: 'look', input: {} })),
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'rain', is_error: true },
            { type: 'tool_result', tool_use_id: 'b' },
            { type: 'text', text: 'and?' },
          ],
        },
        { role: 'system', content: 'be briefer' },
      ],
    });
    expect(turns).toEqual([
      { role: 'system', parts: [{ type: 'text', text: 'be brief' }] },
      expect.objectContaining({ role: 'assistant' }),
      {
        role: 'tool',
        parts: [
          {
            type: 'tool_result',
            callId: 'a',
            content: [{ type: 'text', text: 'rain' }],
            isError: true,
          },
          { type: 'tool_result', callId: 'b', content: [], isError: false },
        ],
      },
      { role: 'user', parts: [{ type: 'text', text: 'and?' }] },
      { role: 'system', parts: [{ type: 'text', text: 'be briefer' }] },
    ]);
  });

  it('keeps arguments as they are spelled', () => {
    const text =
      '{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"n","input":{ "n": 1.0, "big": 1152921504606846977 }}]}]}';
    const { turns } = decodeRequest(messagesCodec, peekMessages(Buffer.from(text)));
    expect(turns[0]?.parts[0]).toMatchObject({
      arguments: '{ "n": 1.0, "big": 1152921504606846977 }',
    });
  });

  it('tells search results as text and carries what it does not know', () => {
    const found = {
      type: 'search_result',
      title: 'A page',
      source: 'https://example.com',
      content: [{ type: 'text', text: 'words' }],
    };
    const upload = { type: 'container_upload', file_id: 'f2' };
    const { turns } = decodeContent([found, upload]);
    expect(turns[0]?.parts).toEqual([
      { type: 'text', text: 'A page\nhttps://example.com\n\nwords' },
      {
        type: 'opaque',
        origin: 'messages',
        value: upload,
        path: 'messages[0].content[1].container_upload',
      },
    ]);
  });

  it('reads documents of each kind', () => {
    const sources = [
      { type: 'base64', media_type: 'application/pdf', data: 'AA==' },
      { type: 'url', url: 'https://example.com/a.pdf' },
      { type: 'text', media_type: 'text/plain', data: 'words' },
      {
        type: 'content',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ];
    const { turns } = decodeContent(
      sources.map((source) => ({ type: 'document', source, title: 'T' })),
    );
    expect(turns[0]?.parts.map((part) => part.type === 'document' && part.source)).toEqual([
      { type: 'data', mediaType: 'application/pdf', data: 'AA==' },
      { type: 'url', url: 'https://example.com/a.pdf' },
      { type: 'text', text: 'words' },
      { type: 'text', text: 'a\nb' },
    ]);
    expect(turns[0]?.parts[0]).toMatchObject({ name: 'T' });
  });

  it('names the fields that have no place elsewhere', () => {
    const { unmapped } = decode({
      container: 'c',
      cache_control: { type: 'ephemeral' },
      absent: null,
      metadata: { user_id: 'u', team: 't' },
      output_config: { effort: 'low', beta: 1 },
      tools: [{ name: 'a', input_schema: {}, defer_loading: true, cache_control: null }],
      messages: [
        {
          role: 'user',
          content: [{ type: 'document', source: { type: 'text', data: 'x' }, context: 'c' }],
        },
      ],
    });
    expect([...unmapped].sort()).toEqual([
      'cache_control',
      'container',
      'messages[0].content[0].context',
      'metadata.team',
      'output_config.beta',
      'tools[0].defer_loading',
    ]);
  });

  it.each([
    { content: [{ type: 'text' }], param: 'messages[0].content[0].text' },
    { content: [{ type: 'image' }], param: 'messages[0].content[0].source' },
    {
      content: [{ type: 'image', source: { type: 'base64', data: 'x' } }],
      param: 'messages[0].content[0].source.media_type',
    },
    { content: [{ type: 'tool_use', id: 'a', name: 'n' }], param: 'messages[0].content[0].input' },
    { content: [{ type: 'tool_result' }], param: 'messages[0].content[0].tool_use_id' },
    {
      content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'text' }] }],
      param: 'messages[0].content[0].content[0].text',
    },
  ])('refuses a block that lacks $param', ({ content, param }) => {
    expect(() => decodeContent(content)).toThrow(
      expect.objectContaining({ code: 'invalid_request', param }),
    );
  });
});
