import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { useMockServer } from './use-mock-server.ts';

async function connect(reply: object): Promise<OpenAI['responses']> {
  const { url } = await useMockServer(reply);
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'any', maxRetries: 0 }).responses;
}

describe('mock: Responses that are kept', () => {
  it(verifies('mock.offline', 'are read, streamed again, listed and deleted'), async () => {
    const responses = await connect({ text: 'hi you' });
    const made = await responses.create({ model: 'm', input: 'hello' });
    expect(await responses.retrieve(made.id)).toEqual(made);
    const events: unknown[] = [];
    for await (const event of await responses.retrieve(made.id, { stream: true }))
      events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'response.completed', response: { id: made.id } });
    const { data } = await responses.inputItems.list(made.id);
    expect(data).toMatchObject([{ type: 'message', role: 'user', content: [{ text: 'hello' }] }]);
    await responses.delete(made.id);
    await expect(responses.retrieve(made.id)).rejects.toMatchObject({ status: 404 });
    const unstored = await responses.create({ model: 'm', input: 'hello', store: false });
    await expect(responses.retrieve(unstored.id)).rejects.toMatchObject({ status: 404 });
  });

  it(
    verifies('mock.offline', 'run in the background until they are over or cancelled'),
    async () => {
      const responses = await connect({ text: 'done', polls: 1 });
      const ask = { model: 'm', input: 'hello', background: true } as const;
      const made = await responses.create(ask);
      expect([made.status, made.output]).toEqual(['queued', []]);
      expect((await responses.retrieve(made.id)).status).toBe('in_progress');
      expect(await responses.retrieve(made.id)).toMatchObject({
        status: 'completed',
        output_text: 'done',
      });
      const other = await responses.create(ask);
      expect(other.id).not.toBe(made.id);
      expect((await responses.cancel(other.id)).status).toBe('cancelled');
      expect((await responses.retrieve(other.id)).status).toBe('cancelled');
    },
  );

  it(verifies('mock.offline', 'are counted and compacted'), async () => {
    const responses = await connect({ text: 'short' });
    const input = [
      { role: 'user', content: 'hello there' },
      { role: 'assistant', content: 'hi' },
    ] as const;
    expect(await responses.inputTokens.count({ model: 'm', input: [...input] })).toEqual({
      object: 'response.input_tokens',
      input_tokens: expect.any(Number),
    });
    const compacted = await responses.compact({ model: 'm', input: [...input] });
    expect(compacted).toMatchObject({ object: 'response.compaction', usage: { output_tokens: 2 } });
    expect(compacted.output.map(({ type }) => type)).toEqual(['message', 'compaction']);
  });
});
