import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeChat, peekChat } from '../../src/protocols/chat/chat-request.ts';
import {
  encodeGenerateContent,
  peekGenerateContent,
} from '../../src/protocols/generate-content/generate-content-request.ts';
import { encodeMessages, peekMessages } from '../../src/protocols/messages/messages-request.ts';
import type { RequestPeek, Wire } from '../../src/protocols/protocol.ts';
import { toSignatureText } from '../../src/protocols/canonical/reasoning-token.ts';
import { verifies } from '../requirements.ts';
import { encodeOptions } from '../support/protocols.ts';

const TOKEN = toSignatureText({ origin: 'responses', value: '{"id":"rs_1"}' }, 'messages');
const RAW = '{"n":1.0,"big":1152921504606846977}';

interface Row {
  id: string;
  peek(body: Buffer): RequestPeek;
  encode: Wire['encode'];
  /** A conversation whose one answer holds these reasonings in front of a call with {@link RAW}. */
  body(...signatures: readonly string[]): string;
  /** What is told as lost. */
  field: string;
  /** Of what is left of an answer without its reasoning. */
  keeps: string;
}

const list = (parts: readonly string[]): string => parts.join(',');

const ROWS: readonly Row[] = [
  {
    id: 'chat',
    peek: peekChat,
    encode: encodeChat,
    body: (...signatures) =>
      `{"model":"up", "messages":[{"role":"user","content":"see ${TOKEN}"},{"role":"assistant",` +
      `"content":null,"reasoning_content":"hm","reasoning_details":[${list(
        signatures.map((one) => `{"type":"reasoning.text","text":"hm","signature":"${one}"}`),
      )}],"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${RAW}}}]}]}`,
    field: 'reasoning_details',
    keeps: `"arguments":${RAW}`,
  },
  {
    id: 'messages',
    peek: peekMessages,
    encode: encodeMessages,
    body: (...signatures) =>
      `{"model":"up", "max_tokens":9,"messages":[{"role":"user","content":"see ${TOKEN}"},` +
      `{"role":"assistant","content":[${list([
        ...signatures.map((one) => `{"type":"thinking","thinking":"hm","signature":"${one}"}`),
        `{"type":"tool_use","id":"c","name":"f","input":${RAW}}`,
      ])}]}]}`,
    field: 'messages.content.thinking.signature',
    keeps: `"input":${RAW}`,
  },
  {
    id: 'generate-content',
    peek: (body) => peekGenerateContent(body, { model: 'up', operation: 'generateContent' }),
    encode: encodeGenerateContent,
    body: (...signatures) =>
      `{"contents": [{"role":"user","parts":[{"text":"see ${TOKEN}"}]},{"role":"model","parts":[${list(
        [
          ...signatures.map((one) => `{"text":"hm","thought":true,"thoughtSignature":"${one}"}`),
          `{"functionCall":{"name":"f","args":${RAW}}}`,
        ],
      )}]}]}`,
    field: 'thoughtSignature',
    keeps: `"args":${RAW}`,
  },
];

describe.each(ROWS)('what other providers thought, in a request of $id', (row) => {
  const encode = (text: string): { text: string; losses: string[] } => {
    const losses: string[] = [];
    const peek = row.peek(Buffer.from(text));
    const options = {
      model: 'up',
      askUsage: false,
      defaultMaxTokens: 1,
      account: 'prov_test',
      vendor: 'acme',
      losses,
    };
    return { text: row.encode(peek, options).toString('utf8'), losses };
  };

  it('is left out and named, and the call is kept as it is spelled', () => {
    const { text, losses } = encode(row.body(TOKEN));
    expect(losses).toEqual([row.field]);
    expect(text).not.toContain('hm');
    expect(text).toContain(row.keeps);
    expect(text.split(TOKEN)).toHaveLength(2);
  });

  it(
    verifies('routing.body.byte-faithful', 'changes no byte where its own provider thought'),
    () => {
      const own = row.body('c2lnbmVk+/==');
      expect(encode(own)).toEqual({ text: own, losses: [] });
    },
  );

  it('never throws, whatever stands where reasoning may stand', () => {
    const any = fc.jsonValue({ maxDepth: 2 });
    const inner = fc.array(fc.oneof(any, fc.record({ signature: any, data: any, type: any })));
    const turn = fc.record(
      {
        role: fc.constantFrom('assistant', 'model'),
        content: inner,
        parts: inner,
        reasoning_details: inner,
      },
      { requiredKeys: ['role', 'content'] },
    );
    const shapes = fc.oneof(any, fc.array(fc.oneof(any, turn)));
    fc.assert(
      fc.property(shapes, fc.constantFrom('messages', 'contents'), (value, member) => {
        const said = JSON.stringify(value);
        const text = `{"model":"up","max_tokens":9,"${member}":${said},"x":"${TOKEN}"}`;
        let peek: RequestPeek;
        try {
          peek = row.peek(Buffer.from(text));
        } catch {
          return;
        }
        const losses: string[] = [];
        const options = {
          model: 'up',
          askUsage: false,
          defaultMaxTokens: 1,
          account: 'prov_test',
          vendor: 'acme',
          losses,
        };
        expect(row.encode(peek, options).toString('utf8')).toBe(text);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a loop of calls of Claude', () => {
  const asked = { role: 'user', content: 'hi' };
  const foreign = { type: 'thinking', thinking: 'hm', signature: TOKEN };
  const own = { type: 'thinking', thinking: 'so', signature: 'c2ln' };
  const use = { type: 'tool_use', id: 'c', name: 'f', input: {} };
  const result = { type: 'tool_result', tool_use_id: 'c', content: '1' };
  const thinking = { type: 'enabled', budget_tokens: 1024 };
  const step = (...content: object[]) => ({ role: 'assistant', content });
  const results = (...content: object[]) => ({ role: 'user', content: [result, ...content] });

  const encode = (messages: readonly object[], asks: object, capabilities?: object) => {
    const losses: string[] = [];
    const body = { model: 'claude-sonnet-4-5', max_tokens: 9, messages, ...asks };
    const encoded = encodeMessages(peekMessages(Buffer.from(JSON.stringify(body))), {
      ...encodeOptions({ losses }),
      model: body.model,
      capabilities,
    });
    return { thinking: JSON.parse(encoded.toString('utf8')).thinking, losses };
  };
  const LOST = 'messages.content.thinking.signature';

  it.each([
    ['in its first step', [asked, step(foreign, use), results()]],
    [
      'with words beside the results',
      [asked, step(foreign, use), results({ type: 'text', text: 'go' })],
    ],
    ['in its first of two', [asked, step(foreign, use), results(), step(use), results()]],
  ])('goes on without thinking that another provider began: %s', (_name, messages) => {
    expect(encode(messages, { thinking })).toEqual({
      thinking: undefined,
      losses: [LOST, 'thinking'],
    });
    expect(encode(messages, { thinking }, { budget_after_calls: true })).toEqual({
      thinking,
      losses: [LOST],
    });
    const adaptive = { type: 'adaptive' };
    expect(encode(messages, { thinking: adaptive })).toEqual({
      thinking: adaptive,
      losses: [LOST],
    });
  });

  it.each([
    ['no loop', [asked, step(foreign, use), results(), step(use), asked]],
    [
      'a loop that began with its own',
      [asked, step(own, use), results(), step(foreign, use), results()],
    ],
    ['its own beside the other', [asked, step(foreign, own, use), results()]],
  ])('goes on thinking where it may: %s', (_name, messages) => {
    expect(encode(messages, { thinking })).toEqual({ thinking, losses: [LOST] });
  });
});

describe('calls that others signed', () => {
  const call = (name: string, rest: object = {}) => ({ functionCall: { name, args: {} }, ...rest });
  const of = (...parts: object[]) => ({ role: 'model', parts });
  const user = { role: 'user', parts: [{ text: 'hi' }] };
  const encode = (model: string, contents: readonly object[]): unknown => {
    const peek = peekGenerateContent(Buffer.from(JSON.stringify({ contents })), { model });
    const bytes = encodeGenerateContent(peek, { ...encodeOptions(), model });
    return JSON.parse(bytes.toString('utf8')).contents;
  };
  const word = { thoughtSignature: 'skip_thought_signature_validator' };
  const thought = { text: 'hm', thought: true, thoughtSignature: TOKEN };
  const own = call('h', { thought_signature: 'c2ln' });
  const contents = [
    user,
    of(call('f', { thoughtSignature: TOKEN }), call('g')),
    user,
    // Official clients keep a stream piece by piece.
    of(thought),
    of(call('f'), call('g')),
    of(call('h')),
    user,
    of(own),
  ];

  it('bear the word for a signature where the model wants one', () => {
    expect(encode('gemini-3-pro', contents)).toEqual([
      user,
      of(call('f', word), call('g')),
      user,
      of(call('f', word), call('g')),
      of(call('h')),
      user,
      of(own),
    ]);
  });

  it('are unsigned elsewhere', () => {
    expect(encode('gemini-2.5-pro', contents)).toEqual([
      user,
      of(call('f'), call('g')),
      user,
      of(call('f'), call('g')),
      of(call('h')),
      user,
      of(own),
    ]);
  });
});

describe('an answer that was nothing but what another provider thought', () => {
  it('goes as a whole, for empty ones are refused', () => {
    const losses: string[] = [];
    const options = {
      model: 'up',
      askUsage: false,
      defaultMaxTokens: 1,
      account: 'prov_test',
      vendor: 'acme',
      losses,
    };
    const thinking = { type: 'redacted_thinking', data: TOKEN };
    const unsigned = { type: 'thinking', thinking: 'hm', signature: '' };
    const asked = { role: 'user', content: 'hi' };
    const body = {
      model: 'up',
      max_tokens: 9,
      messages: [asked, { role: 'assistant', content: [unsigned, thinking] }, asked],
    };
    const messages = encodeMessages(peekMessages(Buffer.from(JSON.stringify(body))), options);
    expect(JSON.parse(messages.toString('utf8'))).toEqual({ ...body, messages: [asked, asked] });
    const user = { role: 'user', parts: [{ text: 'hi' }] };
    const signed = { text: '', thought_signature: TOKEN };
    const said = { text: 'so', thoughtSignature: TOKEN };
    const contents = [user, { role: 'model', parts: [signed] }, { role: 'model', parts: [said] }];
    const peek = peekGenerateContent(Buffer.from(JSON.stringify({ contents })), { model: 'up' });
    expect(JSON.parse(encodeGenerateContent(peek, options).toString('utf8'))).toEqual({
      contents: [user, { role: 'model', parts: [{ text: 'so' }] }],
    });
  });
});
