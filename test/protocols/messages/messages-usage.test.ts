import { describe, expect, it } from 'vitest';
import { readMessagesAnswer } from '../../../src/protocols/messages/messages-answer.ts';
import { toMessagesUsage } from '../../../src/protocols/messages/messages-usage.ts';
import { MESSAGE } from '../../support/messages.ts';
import { ANSWER, atOnce, fakePeek } from '../../support/protocols.ts';

describe('the usage of a message', () => {
  it('is split by what is priced on its own', () => {
    const raw = {
      input_tokens: 10,
      cache_read_input_tokens: 20,
      cache_creation_input_tokens: 30,
      cache_creation: { ephemeral_5m_input_tokens: 12, ephemeral_1h_input_tokens: 18 },
      output_tokens: 40,
      output_tokens_details: { thinking_tokens: 7 },
    };
    expect(toMessagesUsage(raw)).toMatchObject({
      input: 10,
      cacheRead: 20,
      cacheWrite5m: 12,
      cacheWrite1h: 18,
      output: 40,
      reasoning: 7,
      raw,
    });
    expect(toMessagesUsage({ ...raw, cache_creation: null })).toMatchObject({
      cacheWrite5m: 30,
      cacheWrite1h: 0,
    });
  });

  it('is unknown where nothing was counted', () => {
    for (const raw of [undefined, null, [], {}, { input_tokens: 0, output_tokens: 0 }, 'x'])
      expect(toMessagesUsage(raw)).toBeUndefined();
    expect(
      toMessagesUsage({ input_tokens: -1, output_tokens: 'x', cache_read_input_tokens: 1 }),
    ).toMatchObject({ input: 0, cacheRead: 1, output: 0 });
  });
});

describe('a message', () => {
  const read = (value: unknown, logicalModel?: string) =>
    atOnce(
      readMessagesAnswer(Buffer.from(JSON.stringify(value)), fakePeek(), {
        ...ANSWER,
        logicalModel,
      }),
    );

  it('goes on as it came, or under the name that was asked for', () => {
    expect(read(MESSAGE)?.body.toString()).toBe(JSON.stringify(MESSAGE));
    expect(read(MESSAGE)).toMatchObject({ usage: { input: 9, output: 2 }, outputChars: 0 });
    expect(JSON.parse(read(MESSAGE, 'acme/one')?.body.toString() ?? '')).toEqual({
      ...MESSAGE,
      model: 'acme/one',
    });
  });

  it('is none without content, or when it is an error', () => {
    const error = { type: 'error', error: { type: 'api_error', message: 'no' } };
    for (const value of [{}, { type: 'message' }, error, [], { ...MESSAGE, type: 'other' }])
      expect(read(value)).toBeUndefined();
    const { type: _type, ...untyped } = MESSAGE;
    expect(read(untyped)).toBeDefined();
  });
});
