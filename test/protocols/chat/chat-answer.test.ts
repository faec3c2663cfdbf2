import { Buffer } from 'node:buffer';
import { describe, expect, it } from 'vitest';
import { chat } from '../../../src/protocols/chat/chat.ts';
import type { Answer } from '../../../src/protocols/protocol.ts';
import { verifies } from '../../requirements.ts';
import { ANSWER, atOnce } from '../../support/protocols.ts';
import { usage } from './chat-fixtures.ts';

const peek = chat.peek(Buffer.from('{"model":"m","messages":[]}'));

function read(value: unknown): Answer | undefined {
  const body = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
  return atOnce(chat.readAnswer(body, peek, ANSWER));
}

const choices = [
  { index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' },
];

describe('a chat answer', () => {
  it.each([
    ['not JSON', '{"choices":[]'],
    ['not an object', '[]'],
    ['empty', ''],
    ['HTML', '<html></html>'],
    ['an error', { error: { message: 'm' }, choices }],
    ['without choices', { object: 'chat.completion' }],
    ['another kind of object', { object: 'list', choices }],
    ['without a choice', { choices: [] }],
    ['a choice without a message', { choices: [{ index: 0, finish_reason: 'stop' }] }],
    ['a choice whose message is null', { choices: [{ message: null, finish_reason: 'stop' }] }],
    ['a choice that is none', { choices: [false, null, 1, 'x', []] }],
    ['a choice that failed', { choices: [{ message: {}, finish_reason: 'error' }] }],
    ['a choice with an error', { choices: [{ message: {}, error: { code: 502 } }] }],
    ['null', 'null'],
    ['false', 'false'],
    ['a chunk', { object: 'chat.completion.chunk', choices }],
  ])(verifies('chat.status.502-invalid-response', 'is refused when it is %s'), (_, value) => {
    expect(read(value)).toBeUndefined();
  });

  it('keeps the bytes and reads usage and size', () => {
    const body = Buffer.from(JSON.stringify({ object: 'chat.completion', choices, usage }));
    const answer = atOnce(chat.readAnswer(body, peek, ANSWER));
    expect(answer?.body).toBe(body);
    expect(answer).toMatchObject({ usage: { input: 15, cacheRead: 5, output: 9 }, outputChars: 0 });
    expect(read({ choices, error: null })).toMatchObject({ usage: undefined, outputChars: 5 });
  });

  it('takes another model name and stays as it was otherwise', () => {
    const body = Buffer.from('{ "choices":[{"message":{},"model":"x"}], "model" : "x" , "a":1.0}');
    const renamed = { ...ANSWER, logicalModel: 'y' };
    expect(atOnce(chat.readAnswer(body, peek, renamed))?.body.toString()).toBe(
      '{ "choices":[{"message":{},"model":"x"}], "model" : "y" , "a":1.0}',
    );
    const none = Buffer.from('{"choices":[false,{"message":{}}]}');
    expect(atOnce(chat.readAnswer(none, peek, renamed))?.body).toBe(none);
  });

  it(
    verifies('chat.stream.error-in-band', 'has an error frame with message, type, param and code'),
    () => {
      const error = { message: 'a\n"b"', type: 'server_error', code: 'upstream_interrupted' };
      const frame = chat.errorFrame({ ...error, status: 502 }, peek);
      expect(frame.toString()).toBe(
        'data: {"error":{"message":"a\\n\\"b\\"","type":"server_error","param":null,"code":"upstream_interrupted"}}\n\n',
      );
    },
  );
});
