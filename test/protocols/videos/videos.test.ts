import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import { gatherBody } from '../../../src/core/memory/spooled-body.ts';
import { readVideo, videoUsage } from '../../../src/protocols/videos/video.ts';
import { contentTasks, videos } from '../../../src/protocols/videos/videos.ts';
import { formText, toForm } from '../../support/form-text.ts';
import { ANSWER, encodeOptions, atOnce } from '../../support/protocols.ts';
import { mutatedJson } from '../mutations.ts';

/** After VideoCreateParams and Video of the openai client 7.55 (2026-11-21). */
const REQUEST = '{"model":"acme/film","prompt":"a fox","seconds":"8", "size" : "720x1280","x":1.0}';
const ANSWERED = JSON.stringify({
  id: 'video_1',
  object: 'video',
  model: 'film',
  status: 'completed',
  progress: 100,
  created_at: 1_700_000_000,
  completed_at: 1_700_000_060,
  expires_at: 1_700_086_400,
  prompt: 'a fox',
  seconds: '8',
  size: '720x1280',
  remixed_from_video_id: null,
  error: null,
});
/** After the content-generation tasks of the reference (2026-11-21). */
const TASK = JSON.stringify({
  model: 'acme/film',
  content: [
    { type: 'text', text: 'a fox' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
  ],
  duration: 5,
  resolution: '1080p',
  ratio: '16:9',
  seed: 7,
});

const read = (value: object) => readVideo(Buffer.from(JSON.stringify(value)));

function encodeTask(value: object): { request: unknown; losses: string[] } {
  const losses: string[] = [];
  const peek = contentTasks.peek(Buffer.from(JSON.stringify(value)));
  const body = contentTasks.encode(peek, encodeOptions({ losses }));
  return { request: JSON.parse(body.toString()), losses };
}

function paramOf(work: () => unknown): string | undefined {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error.param;
  }
  throw new Error('nothing was refused');
}

describe('a request for a video', () => {
  it('goes on as it came but for the model', () => {
    const peek = videos.peek(Buffer.from(REQUEST));
    const sent = videos.encode(peek, encodeOptions()).toString();
    expect(sent).toBe(REQUEST.replace('acme/film', 'up'));
    expect(peek).toMatchObject({ model: 'acme/film', stream: false, secondsBound: 8 });
  });

  it('is reserved for as the longest clip when it names no length', () => {
    const peek = videos.peek(Buffer.from('{"model":"m","prompt":"x"}'));
    expect(peek.secondsBound).toBe(12);
  });

  it('may be a form, whose files go on as they came', async () => {
    const parts = [
      { name: 'prompt', content: 'füchse' },
      { name: 'input_reference', filename: 'a.png', content: Buffer.from([0, 255, 13, 10]) },
      { name: 'model', content: 'acme/film' },
      { name: 'seconds', content: '4' },
    ];
    const form = toForm(parts);
    const peek = videos.peek(Buffer.alloc(0), { form });
    expect(peek).toMatchObject({ model: 'acme/film', secondsBound: 4 });
    expect(peek.json.get('prompt')).toBe('füchse');
    const sent = videos.encodeForm?.(form, encodeOptions());
    const body = sent && (await gatherBody(sent, 10_000));
    expect(body?.toString('latin1')).toBe(
      formText('b', parts).toString('latin1').replace('acme/film', 'up'),
    );
  });

  it.each([
    ['{"prompt":"x"}', 'model'],
    ['{"model":"m"}', 'prompt'],
    ['{"model":"m","prompt":7}', 'prompt'],
    ['{"model":"m","prompt":"x","seconds":-1}', 'seconds'],
    ['{"model":"m","prompt":"x","seconds":"1e9"}', 'seconds'],
    ['{"model":"m","prompt":"x","Model":"n"}', 'model'],
  ])('is refused with the member at fault: %s', (body, param) => {
    expect(paramOf(() => videos.peek(Buffer.from(body)))).toBe(param);
  });
});

describe('a content-generation task', () => {
  it('is the same request in other words', () => {
    expect(encodeTask(JSON.parse(TASK))).toEqual({
      request: {
        model: 'up',
        prompt: 'a fox',
        seconds: '5',
        size: '1920x1080',
        input_reference: { image_url: 'data:image/png;base64,AAAA' },
      },
      losses: ['seed'],
    });
  });

  it('says what it could not say', () => {
    const content = [{ type: 'text', text: 'x' }];
    expect(encodeTask({ model: 'm', content, resolution: '720p', watermark: true }).losses).toEqual(
      ['resolution', 'watermark'],
    );
    expect(encodeTask({ model: 'm', content, duration: -1, seed: null })).toEqual({
      request: { model: 'up', prompt: 'x' },
      losses: [],
    });
  });

  it.each([
    [{}, 'content'],
    [{ content: 'x' }, 'content'],
    [{ content: [] }, 'content'],
    [{ content: [{ type: 'text', text: '' }] }, 'content'],
    [{ content: [{ type: 'text', text: 'x' }, { type: 'video_url' }] }, 'content[1]'],
    [{ content: [{ type: 'image_url', image_url: 'x' }] }, 'content[0]'],
    [{ content: [{ type: 'text', text: 'x' }], duration: 0 }, 'duration'],
    [{ content: [{ type: 'text', text: 'x' }], callback_url: 'https://a.b' }, 'callback_url'],
  ])('is refused with the member at fault: %j', (value, param) => {
    const body = Buffer.from(JSON.stringify({ model: 'm', ...value }));
    expect(paramOf(() => contentTasks.peek(body))).toBe(param);
  });
});

describe("a provider's answer", () => {
  it('is a task under the id of the provider', () => {
    const answer = atOnce(
      videos.readAnswer(Buffer.from(ANSWERED), videos.peek(Buffer.from(REQUEST)), ANSWER),
    );
    expect(answer?.work).toMatchObject({ id: 'video_1', status: 'completed' });
    expect(read(JSON.parse(ANSWERED))?.video).toEqual({
      state: 'completed',
      progress: 100,
      completedAt: 1_700_000_060,
      expiresAt: 1_700_086_400,
      prompt: 'a fox',
      size: '720x1280',
      seconds: 8,
      error: null,
      tokens: 0,
    });
  });

  it.each([
    ['queued', 'queued'],
    ['pending', 'queued'],
    ['processing', 'in_progress'],
    ['running', 'in_progress'],
    ['succeeded', 'completed'],
    ['cancelled', 'failed'],
    ['expired', 'failed'],
  ])('may call a state %s', (status, state) => {
    expect(read({ id: 'v', status })?.video.state).toBe(state);
  });

  it.each([
    ['no id', { status: 'queued' }],
    ['an id without end', { id: 'x'.repeat(10_000), status: 'queued' }],
    ['no status', { id: 'v' }],
    ['a status of Object', { id: 'v', status: 'constructor' }],
  ])('is none with %s', (_fault, value) => {
    expect(read(value)).toBeUndefined();
  });

  it('is billed by what the provider made, else by what was asked for', () => {
    const made = (value: object) => read({ id: 'v', status: 'completed', ...value })?.video;
    const usage = (value: object, asked: number | null) => {
      const video = made(value);
      return video && videoUsage(video, asked);
    };
    expect(usage({ seconds: '12' }, 8)).toMatchObject({ seconds: 12, output: 0 });
    expect(usage({ seconds: 'NaN' }, 8)).toMatchObject({ seconds: 8 });
    expect(usage({ usage: { completion_tokens: 70 } }, null)).toMatchObject({
      seconds: 0,
      output: 70,
    });
  });
});

describe('hostile bytes', () => {
  it('are read or refused, and nothing else', () => {
    const peekOf = { videos: REQUEST, contentTasks: TASK };
    for (const protocol of [videos, contentTasks]) {
      const valid = protocol === videos ? peekOf.videos : peekOf.contentTasks;
      fc.assert(
        fc.property(mutatedJson(valid), (text) => {
          try {
            const peek = protocol.peek(Buffer.from(text));
            const sent = protocol.encode(peek, encodeOptions()).toString();
            expect(JSON.parse(sent)).toMatchObject({ model: 'up' });
          } catch (error) {
            expect(error).toBeInstanceOf(GatewayError);
          }
        }),
      );
    }
    fc.assert(
      fc.property(mutatedJson(ANSWERED), (text) => {
        const found = readVideo(Buffer.from(text));
        expect(found === undefined || typeof found.video.state === 'string').toBe(true);
      }),
    );
    fc.assert(fc.property(fc.uint8Array(), (bytes) => void readVideo(Buffer.from(bytes))));
  });
});
