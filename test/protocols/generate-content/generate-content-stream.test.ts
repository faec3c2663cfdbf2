import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSseFramer } from '../../../src/core/sse/sse.ts';
import { generateContent } from '../../../src/protocols/generate-content/generate-content.ts';
import { createGenerateContentStream } from '../../../src/protocols/generate-content/generate-content-stream.ts';
import type { StreamReader } from '../../../src/protocols/protocol.ts';
import { verifies } from '../../requirements.ts';
import { ANSWER, fakePeek } from '../../support/protocols.ts';
import { waysToCut } from '../../core/sse/cuts.ts';
import { mutatedFrames } from '../mutations.ts';

// After the published types of @google/genai 3.1 (GenerateContentResponse), November 2026.
const part = (value: object, rest: object = {}): object => ({
  candidates: [{ content: { role: 'model', parts: [value] }, index: 0, ...rest }],
  modelVersion: 'gemini-3-pro',
  responseId: 'r-1',
});
const USAGE = { promptTokenCount: 9, candidatesTokenCount: 5, thoughtsTokenCount: 2 };
const finish = { ...part({ text: '' }, { finishReason: 'STOP' }), usageMetadata: USAGE };

const FIXTURES: Record<string, readonly (object | string)[]> = {
  text: [part({ text: 'Grüße, 世界 🌍' }), part({ text: '"error": "x"' }), finish],
  thoughts: [
    part({ text: 'hm', thought: true }),
    part({ text: 'so', thoughtSignature: 'c2ln' }),
    finish,
  ],
  calls: [part({ functionCall: { name: 'f', args: { n: 1 } } }, { finishReason: 'STOP' })],
  image: [part({ inlineData: { mimeType: 'image/png', data: 'AAAA' } }), finish],
  blocked: [{ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: USAGE }],
  cut: [part({ text: 'one' })],
  failing: [
    part({ text: 'one' }),
    { error: { code: 429, message: 'späť', status: 'RESOURCE_EXHAUSTED' } },
  ],
  'failing at once': [{ error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } }],
  malformed: [part({ text: 'one' }), '{"oops": ', finish],
};

function write(frames: readonly (object | string)[], end: string, gap = ' '): string {
  return frames
    .map((one) => `data:${gap}${typeof one === 'string' ? one : JSON.stringify(one)}${end}${end}`)
    .join('');
}

const ARRAY = { streamType: 'application/json' };

function run(
  chunks: readonly Buffer[],
  asked: object = {},
): { output: string; reader: StreamReader } {
  const reader = createGenerateContentStream({ ...ANSWER, peek: fakePeek(asked) });
  const parts = chunks.map((chunk) => reader.push(chunk));
  parts.push(reader.end());
  return { output: Buffer.concat(parts.filter((one) => one !== undefined)).toString(), reader };
}

function outcome(chunks: readonly Buffer[], asked: object) {
  const { output, reader } = run(chunks, asked);
  const { contentSeen, ended, failure, usage, outputChars, events } = reader;
  return { output, contentSeen, ended, failure, usage, outputChars, events };
}

/** The same with LF and a blank behind each colon. */
function inPlainFraming({ output, ...rest }: ReturnType<typeof outcome>) {
  const lines = output.replaceAll(/\r\n?/g, '\n');
  return { output: lines.replaceAll(/^data:(?! )/gm, 'data: '), ...rest };
}

describe('a stream of generate-content', () => {
  for (const [name, frames] of Object.entries(FIXTURES)) {
    it(
      verifies('stream.sse.chunk-boundaries', `reads "${name}" alike at every split and framing`),
      () => {
        for (const asked of [{}, ARRAY]) {
          const plain = outcome([Buffer.from(write(frames, '\n'))], asked);
          for (const end of ['\n', '\r\n', '\r'])
            for (const gap of ['', ' ']) {
              const bytes = Buffer.from(write(frames, end, gap));
              const expected = outcome([bytes], asked);
              expect(inPlainFraming(expected)).toEqual(plain);
              for (const chunks of waysToCut(bytes))
                expect(outcome(chunks, asked)).toEqual(expected);
            }
        }
      },
    );
  }

  it('passes frames on as they came and reads the usage beside them', () => {
    const bytes = write(FIXTURES['text'] ?? [], '\n');
    const { output, reader } = run([Buffer.from(bytes)]);
    expect(output).toBe(bytes);
    expect(reader).toMatchObject({ ended: true, failure: undefined });
    expect(reader.usage).toMatchObject({ input: 9, output: 7, reasoning: 2 });
  });

  it('writes the same answers as the elements of an array', () => {
    const frames = FIXTURES['thoughts'] ?? [];
    expect(JSON.parse(run([Buffer.from(write(frames, '\n'))], ARRAY).output)).toEqual(frames);
  });

  it('takes for content what says something, a finish or a refused prompt', () => {
    const seen = (one: object): boolean =>
      run([Buffer.from(write([one], '\n'))]).reader.contentSeen;
    expect(seen(part({ text: '' }))).toBe(false);
    expect(seen(part({ text: '', thoughtSignature: 'c2ln' }))).toBe(false);
    expect(seen({ usageMetadata: USAGE })).toBe(false);
    expect(seen(part({ text: '' }, { finishReason: 'FINISH_REASON_UNSPECIFIED' }))).toBe(false);
    expect(seen(part({ text: 'a' }))).toBe(true);
    expect(seen(part({ executableCode: { code: '1' } }))).toBe(true);
    expect(seen(part({ text: '' }, { finishReason: 'SAFETY' }))).toBe(true);
    expect(seen({ promptFeedback: { blockReason: 'OTHER' } })).toBe(true);
  });

  it('is complete when every candidate in it has finished', () => {
    const second = (rest: object): object => ({
      candidates: [{ content: { parts: [{ text: 'b' }] }, index: 1, ...rest }],
    });
    const ended = (...frames: object[]): boolean =>
      run([Buffer.from(write(frames, '\n'))]).reader.ended;
    expect(ended(part({ text: 'a' }), second({}), finish)).toBe(false);
    expect(ended(second({}), finish, second({ finishReason: 'STOP' }))).toBe(true);
  });

  it('tells the failure of a provider with its own status and text', () => {
    const { reader } = run([Buffer.from(write(FIXTURES['failing'] ?? [], '\n'))]);
    expect(reader.failure).toEqual({
      kind: 'error',
      message: 'späť',
      status: 429,
      code: 'RESOURCE_EXHAUSTED',
      type: 'RESOURCE_EXHAUSTED',
    });
  });

  it('closes the array behind a failure, whether anything was written or not', () => {
    const told = { message: 'lost', type: 'api_error', code: 'upstream_interrupted', status: 504 };
    const error = { code: 504, message: 'lost', status: 'DEADLINE_EXCEEDED' };
    for (const name of ['cut', 'failing at once']) {
      const { output, reader } = run([Buffer.from(write(FIXTURES[name] ?? [], '\n'))], ARRAY);
      const whole = JSON.parse(`${output}${reader.errorFrame?.(told)?.toString()}`);
      expect(whole.at(-1)).toEqual({ error });
      expect(whole).toHaveLength(name === 'cut' ? 2 : 1);
    }
  });

  it('is kept alive by what means nothing in its form', () => {
    const { keepAlive } = generateContent;
    const frames = FIXTURES['text'] ?? [];
    const { output } = run([Buffer.from(write(frames, '\n'))], ARRAY);
    const alive = keepAlive?.(fakePeek(ARRAY)).toString() ?? 'x';
    expect(JSON.parse(output.replaceAll(',\n', `${alive},\n`))).toEqual(frames);
    // The official client for Python takes a comment for an answer that is not JSON; a lone line break, that for Go.
    expect(keepAlive?.(fakePeek()).toString()).toBe('\n\n');
  });

  it('never throws at a broken stream', () => {
    const framer = createSseFramer();
    const frames = framer.push(Buffer.from(write(Object.values(FIXTURES).flat(), '\n')));
    fc.assert(
      fc.property(mutatedFrames(frames), fc.boolean(), (bytes, isArray) => {
        const { output, reader } = run([bytes], isArray ? ARRAY : {});
        if (isArray && reader.ended) JSON.parse(output);
      }),
    );
  });
});
