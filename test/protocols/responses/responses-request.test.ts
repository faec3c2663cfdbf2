import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import type { RequestPeek } from '../../../src/protocols/protocol.ts';
import { toSignatureText } from '../../../src/protocols/canonical/reasoning-token.ts';
import { responses } from '../../../src/protocols/responses/parts.ts';
import {
  ENCRYPTED_MARK,
  ITEM_MARK,
  REASONING_ID_MARK,
} from '../../../src/protocols/scan-request.ts';
import { verifies } from '../../requirements.ts';
import { encodeOptions } from '../../support/protocols.ts';

const peek = (body: string): RequestPeek => responses.peek(Buffer.from(body));
const encode = (body: string, losses: string[] = []): string =>
  responses.encode(peek(body), encodeOptions({ losses })).toString();

describe('a Responses request', () => {
  it.each([
    ['no model', '{"input":"x"}', 'model'],
    ['a model that is no text', '{"model":7}', 'model'],
    ['an empty model', '{"model":""}', 'model'],
    ['stream as a text', '{"model":"m","stream":"true"}', 'stream'],
    ['stream as a number', '{"model":"m","stream":1}', 'stream'],
    ['two models', '{"model":"a","model":"b"}', 'model'],
    ['two inputs', '{"model":"a","input":"x","INPUT":[]}', 'input'],
  ])(verifies('responses.request.validation', 'with %s is refused'), (_fault, body, param) => {
    expect(() => peek(body)).toThrow(
      expect.objectContaining({ code: 'invalid_request', status: 400, param }),
    );
  });

  it('that is not JSON is refused', () => {
    for (const body of ['', '[]', 'null', '{"model":', '{"model":"m"} {}'])
      expect(() => peek(body)).toThrow(expect.objectContaining({ code: 'invalid_json' }));
  });

  it('in the background is for providers of the protocol itself, and not repeated', () => {
    expect(peek('{"model":"m","background":true,"store":false}')).toMatchObject({
      background: true,
      unstored: true,
      nativeOnly: { name: '`background`', param: 'background' },
    });
    expect(() => peek('{"model":"m","background":"yes"}')).toThrow(
      expect.objectContaining({ code: 'invalid_request', status: 400, param: 'background' }),
    );
    for (const value of ['false', 'null'])
      expect(peek(`{"model":"m","background":${value}}`).model).toBe('m');
  });

  it('bounds its output by its own limit', () => {
    expect(peek('{"model":"m","max_output_tokens":9}').outputBound).toBe(9);
    for (const limit of ['null', '0', '-1', '1.5', '"9"'])
      expect(peek(`{"model":"m","max_output_tokens":${limit}}`).outputBound).toBeUndefined();
  });

  it('reaches the provider byte for byte, but for the model', () => {
    const body = `{ "input" : [{"role":"user","content":"\\u00fc"}],\n "metadata":{"a":1.0,"b":9007199254740993}, "model":"acme/x","stream" : null }`;
    expect(encode(body)).toBe(body.replace('acme/x', 'up'));
  });

  it('is pinned by what earlier answers left at their provider, the latest last', () => {
    const { pins } = peek(
      '{"model":"m","previous_response_id":"resp_9","input":[{"type":"reasoning","encrypted_content":"gA"},{"role":"user","content":"x"},{"type":"reasoning","encrypted_content":"gB"},{"type":"compaction","encrypted_content":"gC"},{"type":"reasoning","encrypted_content":null}]}',
    );
    expect(pins).toHaveLength(4);
    expect(pins?.at(-1)).toBe('response:resp_9');
    expect(new Set(pins).size).toBe(4);
    expect(JSON.stringify(pins)).not.toContain('gA');
    expect(peek('{"model":"m","input":"x","previous_response_id":null}').pins).toEqual([]);
  });

  it.each([
    ['a reference', '{"type":"item_reference","id":"msg_1"}', ['item:msg_1']],
    ['a reference of no type', '{"id":"rs_1"}', ['item:rs_1']],
    ['a reference of the type null', '{"type":null,"id":"rs_1"}', ['item:rs_1']],
    ['reasoning by its id', '{"type":"reasoning","id":"rs_1","summary":[]}', ['item:rs_1']],
    [
      'reasoning without encrypted content',
      '{"type":"reasoning","id":"rs_1","summary":[],"content":[],"encrypted_content":null}',
      ['item:rs_1'],
    ],
    [
      'reasoning that carries its text',
      '{"type":"reasoning","id":"rs_1","summary":[],"content":[{"type":"reasoning_text","text":"x"}]}',
      [],
    ],
    ['a message of no type', '{"id":"rs_1","role":"assistant","content":"x"}', []],
    ['a message', '{"type":"message","id":"rs_1","role":"assistant","content":[]}', []],
    ['a reference to nothing', '{"type":"item_reference","id":""}', []],
  ])('is pinned where the provider must look up an item: %s', (_what, item, pins) => {
    expect(peek(`{"model":"m","input":[{"role":"user","content":"x"},${item}]}`).pins).toEqual(
      pins,
    );
  });

  it('is pinned by the encrypted content of reasoning, not by its id', () => {
    const item = '{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gA"}';
    expect(peek(`{"model":"m","input":[${item}]}`).pins).toEqual([
      expect.stringMatching(/^encrypted:/),
    ]);
  });

  it('does not parse an input that refers to nothing', () => {
    const input = JSON.stringify([
      { role: 'user', content: 'read rs_1' },
      { type: 'message', id: 'msg_1', role: 'assistant', content: [] },
    ]);
    const { json } = peek(`{"model":"m","reasoning":{"effort":"low"},"input":${input}}`);
    expect([ITEM_MARK, REASONING_ID_MARK, ENCRYPTED_MARK].map((m) => json.maySee(m))).toEqual([
      false,
      false,
      false,
    ]);
  });

  it('leaves out reasoning that a provider of another protocol gave, and says so', () => {
    const token = toSignatureText({ origin: 'messages', value: 'c2ln' }, 'responses');
    const own = '{ "type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"gAAA" }';
    const foreign = `{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"${token}"}`;
    const said = '{"role":"user","content":"Grüße 1.0"}';
    const losses: string[] = [];
    const body = `{"model":"up","input":[${own}, ${foreign} ,${said}],"x":1.0}`;
    expect(encode(body, losses)).toBe(`{"model":"up","input":[${own},${said}],"x":1.0}`);
    expect(losses).toEqual(['reasoning.encrypted_content']);
    expect(peek(body).pins).toHaveLength(1);
  });
});
