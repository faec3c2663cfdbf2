import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../src/inference/read-answer.ts';
import { chat } from '../../src/protocols/chat/chat.ts';
import { embeddings } from '../../src/protocols/embeddings/parts.ts';
import type { Answer, Wire } from '../../src/protocols/protocol.ts';

import { verifies } from '../requirements.ts';
import { wireTo } from '../protocols/spoken.ts';

const CHOICES = [
  { index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' },
];
const USAGE = { prompt_tokens: 1, completion_tokens: 1 };
const completion = (more: string) =>
  Buffer.from(`{"choices":${JSON.stringify(CHOICES)},"usage":${JSON.stringify(USAGE)}${more}}`);

function read(
  body: Buffer,
  wire: Wire,
  { maxValues = 2_000_000, ...request }: { maxValues?: number; input?: string[] } = {},
) {
  const value = { model: 'a/m', messages: [{ role: 'user', content: 'hi' }], ...request };
  const peek = (wire === embeddings ? embeddings : chat).peek(Buffer.from(JSON.stringify(value)));
  const answer = { account: 'prov', vendor: 'acme', id: 'req', created: 1 };
  return readAnswer(body, { wire, peek, answer, maxValues });
}

/** Counts the turns that others get while the answer is read. */
async function turnsWhile<T>(work: T | Promise<T>): Promise<{ result: T; turns: number }> {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    if (isOver) return;
    turns++;
    setImmediate(count);
  };
  setImmediate(count);
  const result = await work;
  isOver = true;
  return { result, turns };
}

describe('a whole answer', () => {
  it(
    verifies(
      'limits.values.forwarded-answer',
      'is passed on as it came however many values it has, and others get their turns meanwhile',
    ),
    async () => {
      const body = completion(`,"x":[${'1,'.repeat(1_000_000)}1]`);
      const { result, turns } = await turnsWhile(read(body, chat, { maxValues: 400_000 }));
      expect((result as Answer).body).toBe(body);
      expect((result as Answer).usage).toMatchObject({ input: 1, output: 1 });
      expect(turns).toBeGreaterThan(6);
    },
  );

  it('is read at once when it is short', () => {
    expect(read(completion(''), chat)).not.toBeInstanceOf(Promise);
  });

  it('is refused for too many values where it is parsed whole', async () => {
    for (const wire of [wireTo(chat, 'messages'), wireTo(chat, 'responses')]) {
      expect(wire.parsesAnswers).toBe(true);
      const body = completion(`,"x":[${'{},'.repeat(2_000)}{}]`);
      expect(await read(body, wire, { maxValues: 1_000 })).toMatchObject({
        type: 'discarded',
        reason: 'too_many_values',
      });
    }
  });

  it('holds 1,600 tokens with 20 alternatives each, and 100 vectors of 3,072 numbers, in a tenth of the values that are usual', async () => {
    const top = Array.from({ length: 20 }, () => ({ token: 'a', logprob: -0.5, bytes: [97] }));
    const token = JSON.stringify({ token: 'a', logprob: -0.5, bytes: [97], top_logprobs: top });
    const content = `[${`${token},`.repeat(1_599)}${token}]`;
    const choice = `{"index":0,"message":{"content":"a"},"logprobs":{"content":${content}}}`;
    const spoken = Buffer.from(`{"choices":[${choice}],"usage":${JSON.stringify(USAGE)}}`);
    const maxValues = 200_000;
    const answer = await read(spoken, wireTo(chat, 'chat'), { maxValues });
    expect((answer as Answer).body.equals(spoken)).toBe(true);
    const vector = JSON.stringify(Array.from({ length: 3_072 }, (_, i) => i / 7));
    const entry = (index: number) =>
      `{"object":"embedding","index":${index},"embedding":${vector}}`;
    const data = Array.from({ length: 100 }, (_, index) => entry(index)).join(',');
    const vectors = Buffer.from(`{"object":"list","data":[${data}],"usage":{"prompt_tokens":4}}`);
    const input = Array.from({ length: 100 }, () => 'a');
    const { result, turns } = await turnsWhile(read(vectors, embeddings, { input, maxValues }));
    expect((result as Answer).body).toBe(vectors);
    expect(turns).toBeGreaterThan(6);
  });
});
