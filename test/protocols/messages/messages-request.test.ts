import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forwardBody } from '../../../src/protocols/forward-body.ts';
import { GatewayError } from '../../../src/core/errors.ts';
import { peekMessages } from '../../../src/protocols/messages/messages-request.ts';
import { verifies } from '../../requirements.ts';
import { mutatedJson } from '../mutations.ts';

const BODY = { model: 'acme/one', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] };

const peek = (fields: object) => peekMessages(Buffer.from(JSON.stringify({ ...BODY, ...fields })));

function refusal(fields: object): { code: string; param: string | undefined; message: string } {
  try {
    peek(fields);
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown;
  }
  throw new Error('was not refused');
}

describe('a Messages request', () => {
  it.each([
    { fields: { model: undefined }, param: 'model' },
    { fields: { model: 7 }, param: 'model' },
    { fields: { max_tokens: undefined }, param: 'max_tokens' },
    { fields: { max_tokens: 0 }, param: 'max_tokens' },
    { fields: { max_tokens: 1.5 }, param: 'max_tokens' },
    { fields: { max_tokens: '5' }, param: 'max_tokens' },
    { fields: { messages: undefined }, param: 'messages' },
    { fields: { messages: {} }, param: 'messages' },
  ])(verifies('messages.request.required', 'needs $param: $fields'), ({ fields, param }) => {
    const { code, message, ...error } = refusal(fields);
    expect([code, error.param]).toEqual(['invalid_request', param]);
    expect(message).toContain(`\`${param}\``);
  });

  it.each([
    { item: 'hi', path: 'messages[1]' },
    { item: { role: 'tool', content: 'hi' }, path: 'messages[1].role' },
    { item: { content: 'hi' }, path: 'messages[1].role' },
    { item: { role: 'user', content: 7 }, path: 'messages[1].content' },
    { item: { role: 'user' }, path: 'messages[1].content' },
    { item: { role: 'user', content: { type: 'text' } }, path: 'messages[1].content' },
    { item: { role: 'user', content: ['hi'] }, path: 'messages[1].content[0]' },
    {
      item: { role: 'user', content: [{ type: 'text', text: 'hi' }, { text: 'no' }] },
      path: 'messages[1].content[1]',
    },
  ])(verifies('messages.request.items', 'holds no message like $item'), ({ item, path }) => {
    const { code, param, message } = refusal({ messages: [BODY.messages[0], item] });
    expect([code, param]).toEqual(['invalid_request', path]);
    expect(message).toContain(path);
  });

  it(
    verifies(
      'messages.request.items',
      'messages.request.role-system',
      'holds texts and typed blocks of users, assistants and the system',
    ),
    () => {
      const messages = [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: [{ type: 'text', text: 'yes' }] },
        { role: 'system', content: 'be brief' },
        { role: 'user', content: [{ type: 'never_heard_of', a: 1 }] },
      ];
      expect(peek({ messages }).model).toBe('acme/one');
    },
  );

  it(verifies('messages.request.system-forms', 'takes a system text in both forms'), () => {
    peek({ system: 'be brief' });
    peek({ system: [{ type: 'text', text: 'be brief' }] });
    for (const system of [7, ['be brief'], { type: 'text' }, null])
      expect(refusal({ system })).toMatchObject({ code: 'invalid_request', param: 'system' });
  });

  it(verifies('messages.request.sampling-ranges', 'keeps sampling within its ranges'), () => {
    for (const param of ['temperature', 'top_p']) {
      for (const value of [0, 0.5, 1]) peek({ [param]: value });
      for (const value of [-0.1, 1.1, '1', null, true])
        expect(refusal({ [param]: value })).toMatchObject({ code: 'invalid_request', param });
    }
    for (const value of [0, 40]) peek({ top_k: value });
    for (const value of [-1, 1.5, '1'])
      expect(refusal({ top_k: value })).toMatchObject({ code: 'invalid_request', param: 'top_k' });
  });

  it.each([
    { param: 'stop_sequences', good: ['a'], bad: ['a', [1], {}] },
    { param: 'metadata', good: { user_id: 'u' }, bad: ['a', []] },
    { param: 'tools', good: [{ name: 'a' }], bad: [{}, ['a'], 'a'] },
    { param: 'tool_choice', good: { type: 'auto' }, bad: ['auto', []] },
    { param: 'thinking', good: { type: 'disabled' }, bad: [true, 'enabled'] },
    { param: 'stream', good: true, bad: ['true', 1] },
  ])(
    verifies('messages.request.optional-types', 'takes $param as $good'),
    ({ param, good, bad }) => {
      expect(peek({ [param]: good }).json.get(param)).toEqual(good);
      for (const value of bad)
        expect(refusal({ [param]: value })).toMatchObject({ code: 'invalid_request', param });
    },
  );

  it('streams only when it says so, and is bounded by its limit', () => {
    expect(peek({})).toMatchObject({ stream: false, outputBound: 5 });
    expect(peek({ stream: true }).stream).toBe(true);
  });

  it('is sent as it was written, but for the model', () => {
    const text = '{ "model":"acme/one","max_tokens":5,\n"messages":[],"x":1.0,"y":"\\u00e9"}';
    const read = peekMessages(Buffer.from(text));
    expect(forwardBody(read, { model: 'up', quirks: undefined }).toString()).toBe(
      text.replace('acme/one', 'up'),
    );
    const same = forwardBody(read, { model: 'acme/one', quirks: undefined });
    expect(same.toString()).toBe(text);
    expect(forwardBody(read, { model: 'up', quirks: { drop: ['x'] } }).toString()).not.toContain(
      '"x"',
    );
  });

  it('is read or refused, whatever it holds', () => {
    const whole = JSON.stringify({
      ...BODY,
      system: [{ type: 'text', text: 'a' }],
      tools: [{ name: 'a', input_schema: {} }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    });
    fc.assert(
      fc.property(mutatedJson(whole), (text) => {
        try {
          peekMessages(Buffer.from(text));
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(GatewayError);
        }
      }),
    );
  });
});
