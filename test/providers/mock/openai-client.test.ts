import { NotFoundError, OpenAI, RateLimitError, toFile } from 'openai';
import { describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { useMockServer } from './use-mock-server.ts';

type Reply = Parameters<typeof useMockServer>[0];

const CALL = { name: 'weather', arguments: { city: 'Oslo', unit: '°C' } };
const MESSAGES = [{ role: 'user' as const, content: 'hello there' }];

async function useClient(reply?: Reply): Promise<OpenAI> {
  const { url } = await useMockServer(reply);
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'unused', maxRetries: 0 });
}

describe('mock under the official openai client: chat', () => {
  it(verifies('mock.offline', 'echoes the last user text with usage'), async () => {
    const client = await useClient();
    const answer = await client.chat.completions.create({ model: 'any/model', messages: MESSAGES });
    expect(answer.choices[0]?.message.content).toBe('You said: hello there');
    expect(answer.choices[0]?.finish_reason).toBe('stop');
    expect(answer.model).toBe('any/model');
    expect(answer.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 6, total_tokens: 9 });
  });

  it(
    verifies('mock.offline', 'streams the same text in pieces through the stream helper'),
    async () => {
      const client = await useClient();
      const stream = client.chat.completions.stream({
        model: 'm',
        messages: MESSAGES,
        stream_options: { include_usage: true },
      });
      const pieces: string[] = [];
      stream.on('content', (delta) => pieces.push(delta));
      const answer = await stream.finalChatCompletion();
      expect(pieces.filter(Boolean)).toEqual(['You ', 'said: ', 'hello ', 'there']);
      expect(answer.choices[0]?.message.content).toBe('You said: hello there');
      expect(answer.usage?.total_tokens).toBe(9);
    },
  );

  it('sends usage in a stream only when it was asked for', async () => {
    const client = await useClient();
    const usages: unknown[] = [];
    for await (const chunk of await client.chat.completions.create({
      model: 'm',
      messages: MESSAGES,
      stream: true,
    })) {
      usages.push(chunk.usage);
    }
    expect(new Set(usages)).toEqual(new Set([undefined]));
  });

  it('plays a tool call, whole and in argument pieces', async () => {
    const client = await useClient({ tool_calls: [CALL, CALL] });
    const whole = await client.chat.completions.create({ model: 'm', messages: MESSAGES });
    const streamed = await client.chat.completions
      .stream({ model: 'm', messages: MESSAGES })
      .finalChatCompletion();
    for (const answer of [whole, streamed]) {
      const [choice] = answer.choices;
      expect(choice?.finish_reason).toBe('tool_calls');
      expect(choice?.message.content ?? '').toBe('');
      const calls: any[] = choice?.message.tool_calls ?? [];
      expect(calls.map((call) => JSON.parse(call.function.arguments))).toEqual([
        CALL.arguments,
        CALL.arguments,
      ]);
      expect(new Set(calls.map((call) => call.id)).size).toBe(2);
    }
  });

  it('answers the turn after a tool result from the result', async () => {
    const client = await useClient();
    const answer = await client.chat.completions.create({
      model: 'm',
      messages: [
        ...MESSAGES,
        {
          role: 'assistant',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'sunny' },
      ],
    });
    expect(answer.choices[0]?.message.content).toBe('The tool said: sunny');
  });

  it('plays reasoning, a refusal and a finish reason', async () => {
    const client = await useClient({
      reasoning: 'let me think',
      refusal: 'no',
      finish: 'content_filter',
    });
    const answer = await client.chat.completions.create({ model: 'm', messages: MESSAGES });
    expect(answer.choices[0]).toMatchObject({
      finish_reason: 'content_filter',
      message: { content: null, refusal: 'no', reasoning_content: 'let me think' },
    });
  });

  it('turns a scripted status into the typed error, with Retry-After', async () => {
    const client = await useClient({
      status: 429,
      error: { message: 'slow down', code: 'rate' },
      retry_after: 7,
    });
    const call = client.chat.completions.create({ model: 'm', messages: MESSAGES });
    const error: any = await call.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ code: 'rate', type: 'rate_limit_error' });
    expect(error.headers.get('retry-after')).toBe('7');
  });

  it('tells an error in the middle of a stream', async () => {
    const client = await useClient({ text: 'a b c', error_after: 2, error: { message: 'boom' } });
    const stream = await client.chat.completions.create({
      model: 'm',
      messages: MESSAGES,
      stream: true,
    });
    const seen: string[] = [];
    await expect(async () => {
      for await (const chunk of stream) seen.push(chunk.choices[0]?.delta.content ?? '');
    }).rejects.toThrow('boom');
    expect(seen.join('')).toBe('a b ');
  });
});

describe('mock under the official openai client: responses', () => {
  it(verifies('mock.offline', 'answers a response object'), async () => {
    const client = await useClient({ text: 'hi', reasoning: 'why not', tool_calls: [CALL] });
    const answer = await client.responses.create({
      model: 'm',
      input: 'hello',
      instructions: 'be brief',
    });
    expect(answer.output_text).toBe('hi');
    expect(answer.output.map(({ type }) => type)).toEqual([
      'reasoning',
      'message',
      'function_call',
    ]);
    expect(answer).toMatchObject({ status: 'completed', instructions: 'be brief', error: null });
    expect(answer.usage?.output_tokens_details.reasoning_tokens).toBe(2);
  });

  it(verifies('mock.offline', 'streams a sequence that the strict helper accepts'), async () => {
    const client = await useClient({
      text: 'hi you',
      reasoning: 'why not',
      tool_calls: [CALL, CALL],
    });
    const stream = client.responses.stream({ model: 'm', input: 'hello' });
    const numbers: number[] = [];
    const types: string[] = [];
    stream.on('event', (event) => {
      numbers.push(event.sequence_number);
      types.push(event.type);
    });
    const answer = await stream.finalResponse();
    expect(answer.output_text).toBe('hi you');
    expect(answer.output.map((item: any) => item.arguments).filter(Boolean)).toEqual([
      JSON.stringify(CALL.arguments),
      JSON.stringify(CALL.arguments),
    ]);
    expect(numbers).toEqual(numbers.map((_, i) => i));
    expect(types.slice(0, 2)).toEqual(['response.created', 'response.in_progress']);
    expect(types.at(-1)).toBe('response.completed');
    expect(types).toContain('response.reasoning_summary_text.delta');
    expect(types).toContain('response.function_call_arguments.done');
  });

  it('streams a refusal, and an answer that ran out of tokens as incomplete', async () => {
    const refused = await (
      await useClient({ refusal: 'I will not' })
    ).responses
      .stream({ model: 'm', input: 'x' })
      .finalResponse();
    expect(refused.output[0]).toMatchObject({
      content: [{ type: 'refusal', refusal: 'I will not' }],
    });
    const cut = await (
      await useClient({ text: 'long', finish: 'length' })
    ).responses
      .stream({ model: 'm', input: 'x' })
      .finalResponse();
    expect(cut).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    });
  });

  it('tells an error in the middle of a stream', async () => {
    const client = await useClient({ text: 'a b c', error_after: 1, error: { message: 'boom' } });
    const stream = await client.responses.create({ model: 'm', input: 'x', stream: true });
    const types: string[] = [];
    await expect(async () => {
      for await (const event of stream) types.push(event.type);
    }).rejects.toThrow('boom');
    expect(types.at(-1)).toBe('response.output_text.delta');
  });
});

describe('mock under the official openai client: embeddings, images, videos, models', () => {
  it(verifies('mock.offline', 'embeds as base64 and as floats alike'), async () => {
    const client = await useClient();
    const input = ['the red fox', 'a red fox', 'quarterly tax report'];
    const decoded = await client.embeddings.create({ model: 'e', input, dimensions: 96 });
    const floats = await client.embeddings.create({
      model: 'e',
      input,
      dimensions: 96,
      encoding_format: 'float',
    });
    const vectors = decoded.data.map(({ embedding }) => embedding);
    expect(vectors).toEqual(floats.data.map(({ embedding }) => embedding.map(Math.fround)));
    for (const vector of vectors) {
      expect(vector).toHaveLength(96);
      expect(Math.hypot(...vector)).toBeCloseTo(1, 4);
    }
    const [fox = [], other = [], tax = []] = vectors;
    expect(dot(fox, other)).toBeGreaterThan(dot(fox, tax) + 0.2);
    expect(decoded.usage).toEqual({ prompt_tokens: 11, total_tokens: 11 });
  });

  it('embeds lists of token numbers and counts them', async () => {
    const client = await useClient();
    const one = await client.embeddings.create({ model: 'e', input: [1, 2, 3] });
    const two = await client.embeddings.create({ model: 'e', input: [[1, 2, 3], [4]] });
    expect(one.data).toHaveLength(1);
    expect(two.data[0]?.embedding).toEqual(one.data[0]?.embedding);
    expect(two.usage.prompt_tokens).toBe(4);
  });

  it(
    verifies('mock.offline', 'draws PNG files from a prompt and from uploaded images'),
    async () => {
      const client = await useClient();
      const drawn = await client.images.generate({ model: 'i', prompt: 'a fox', n: 2 });
      expect(drawn.data).toHaveLength(2);
      const png = Buffer.from(drawn.data?.[0]?.b64_json ?? '', 'base64');
      expect(png.subarray(1, 4).toString()).toBe('PNG');
      expect(drawn.usage).toMatchObject({ input_tokens: 2, output_tokens: 512, total_tokens: 514 });

      const image = await toFile(png, 'fox.png', { type: 'image/png' });
      const edited = await client.images.edit({
        model: 'i',
        prompt: 'füchse',
        image: [image, image],
      });
      expect(edited.data).toHaveLength(1);
      expect(edited.usage?.input_tokens_details).toEqual({ text_tokens: 2, image_tokens: 512 });
    },
  );

  it(
    verifies('mock.offline', 'moves a video from queued to completed as it is looked up'),
    async () => {
      const client = await useClient({ polls: 2 });
      const video = await client.videos.create({
        model: 'v',
        prompt: 'a fox',
        seconds: '8',
      });
      const states = [video.status];
      for (let i = 0; i < 3; i++) states.push((await client.videos.retrieve(video.id)).status);
      expect(states).toEqual(['queued', 'in_progress', 'in_progress', 'completed']);
      const content = await client.videos.downloadContent(video.id);
      expect(Buffer.from(await content.arrayBuffer()).toString('latin1', 4, 8)).toBe('ftyp');
      expect(await client.videos.delete(video.id)).toMatchObject({ id: video.id, deleted: true });
      await expect(client.videos.retrieve(video.id)).rejects.toThrow(NotFoundError);
    },
  );

  it('fails a video that is scripted to fail', async () => {
    const client = await useClient({
      status: 200,
      error: { message: 'too dark', code: 'dark' },
      polls: 0,
    });
    const video = await client.videos.create({ model: 'v', prompt: 'a cave' });
    const found = await client.videos.retrieve(video.id);
    expect(found).toMatchObject({ status: 'failed', error: { code: 'dark', message: 'too dark' } });
    await expect(client.videos.downloadContent(video.id)).rejects.toThrow(NotFoundError);
  });

  it('lists models', async () => {
    const client = await useClient();
    const page = await client.models.list();
    expect(page.data).toEqual([expect.objectContaining({ id: 'echo', object: 'model' })]);
  });
});

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}
