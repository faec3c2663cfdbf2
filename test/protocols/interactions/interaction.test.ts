import { describe, expect, it } from 'vitest';
import {
  isOver,
  readInteraction,
  toInteraction,
  toLean,
} from '../../../src/protocols/interactions/interaction.ts';
import { readInteractionsAnswer } from '../../../src/protocols/interactions/interactions-answer.ts';
import { toInteractionUsage } from '../../../src/protocols/interactions/interactions-usage.ts';
import { withoutMedia } from '../../../src/protocols/interactions/without-media.ts';
import { verifies } from '../../requirements.ts';
import { ANSWER, fakePeek } from '../../support/protocols.ts';
import { COMPLETED, RUNNING, USAGE } from './interactions-fixtures.ts';

const bytes = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const keep = (value: object) => {
  const body = bytes(value);
  const seen = readInteraction(body);
  if (!seen) throw new Error('is no interaction');
  return withoutMedia(seen, body);
};
const answer = (body: Buffer, logicalModel?: string) =>
  readInteractionsAnswer(body, fakePeek(), { ...ANSWER, logicalModel });

describe('an answer of Interactions', () => {
  it('is an Interaction in whatever state, as it came', () => {
    for (const value of [COMPLETED, RUNNING, { ...COMPLETED, status: 'odd' }]) {
      const body = bytes(value);
      expect(answer(body)).toMatchObject({ body, work: { id: 'v1_abc', status: value.status } });
    }
    expect(answer(bytes(COMPLETED))).toMatchObject({ outputChars: 'hm'.length + 'hello'.length });
  });

  it('needs no id once it has ended', () => {
    expect(answer(bytes({ ...COMPLETED, id: undefined }))).toMatchObject({ work: undefined });
    expect(answer(bytes({ ...RUNNING, id: undefined }))).toBeUndefined();
  });

  it.each([
    '',
    'null',
    '[]',
    '{}',
    '{"id":"x"}',
    '{"id":"x","status":5}',
    '{"error":{"code":5}}',
    '\xff',
  ])('is nothing else: %s', (text) => {
    expect(answer(Buffer.from(text, 'latin1'))).toBeUndefined();
  });

  it('shows the logical model where the route asks for it', () => {
    const shown = answer(bytes(COMPLETED), 'acme/m')?.body.toString();
    expect(shown).toBe(JSON.stringify(COMPLETED).replace('gemini-up', 'acme/m'));
  });
});

describe('the usage of an Interaction', () => {
  it('counts cached and tool tokens as input and thoughts as output', () => {
    const told = { input: 14, cacheRead: 8, output: 8, reasoning: 3, raw: USAGE };
    expect(toInteractionUsage(USAGE)).toMatchObject(told);
  });

  it('counts thoughts once where the total says that they are among the output', () => {
    const usage = { ...USAGE, total_tokens: 27 };
    expect(toInteractionUsage(usage)).toMatchObject({ output: 5, reasoning: 3 });
  });

  it.each([undefined, null, 5, {}, { total_tokens: 5 }, { total_input_tokens: 'x' }])(
    'is unknown for %s',
    (raw) => expect(toInteractionUsage(raw)).toBeUndefined(),
  );

  it('takes no nonsense', () => {
    const raw = { total_input_tokens: -4, total_output_tokens: 3, total_cached_tokens: 1e300 };
    expect(toInteractionUsage(raw)).toMatchObject({ input: 0, cacheRead: 0, output: 3 });
  });
});

describe('an Interaction', () => {
  it.each([
    ['completed', undefined, true],
    ['failed', undefined, true],
    ['cancelled', undefined, true],
    ['incomplete', undefined, true],
    ['in_progress', USAGE, false],
    ['queued', USAGE, false],
    ['requires_action', USAGE, true],
    ['requires_action', undefined, false],
    ['never_heard_of', USAGE, true],
    ['never_heard_of', undefined, false],
  ])(
    verifies('interactions.status.handling', 'is over or not: %s with usage %o, %s'),
    (status, usage, over) => {
      const seen = toInteraction({ id: 'x', status, usage });
      expect(seen && isOver(seen)).toBe(over);
    },
  );

  it(
    verifies('interactions.get.non-terminal-lean', 'loses what is partial and nothing else'),
    () => {
      const text = `{ "id":"x", "steps":[{"a":"]"}],"n":1.0 ,"usage":{"x":1},"outputs":[], "output_text":"y","big":9007199254740993,"status":"in_progress"}`;
      const lean = toLean(Buffer.from(text)).toString();
      expect(lean).toBe(`{ "id":"x","n":1.0,"big":9007199254740993,"status":"in_progress"}`);
    },
  );

  it(verifies('interactions.get.lossy-fallback', 'is kept whole where it holds no media'), () => {
    expect(keep(COMPLETED)).toEqual({ body: JSON.stringify(COMPLETED), whole: true });
  });

  it(verifies('interactions.get.lossy-fallback', 'is kept without the bytes of its media'), () => {
    const image = { type: 'image', mime_type: 'image/png', data: 'iVBORw0KGgo=' };
    const call = { type: 'function_call', id: 'c', name: 'f', arguments: { data: 'mine' } };
    const inline = { type: 'video', uri: 'data:video/mp4;base64,AAAA', mime_type: 'video/mp4' };
    const linked = { type: 'video', uri: 'https://files.example/v', mime_type: 'video/mp4' };
    const steps = [{ type: 'model_output', content: [image, inline, linked] }, call];
    const { body, whole } = keep({ ...COMPLETED, steps, output_image: image });
    expect(whole).toBe(false);
    expect(JSON.parse(body)).toEqual({
      ...COMPLETED,
      output_image: { type: 'image', mime_type: 'image/png' },
      steps: [
        {
          type: 'model_output',
          content: [
            { type: 'image', mime_type: 'image/png' },
            { type: 'video', mime_type: 'video/mp4' },
            linked,
          ],
        },
        call,
      ],
    });
  });

  it('is kept as an outline when it is large without media, too', () => {
    const steps = [
      { type: 'model_output', content: [{ type: 'text', text: 'x'.repeat(300_000) }] },
      7,
    ];
    const { body, whole } = keep({ ...COMPLETED, steps, input: 'y'.repeat(5000) });
    expect(whole).toBe(false);
    expect(JSON.parse(body)).toEqual({
      ...COMPLETED,
      steps: [{ type: 'model_output' }, { type: 'unknown' }],
    });
  });

  it('is kept whatever its depth', () => {
    const deep = `${'['.repeat(4000)}${']'.repeat(4000)}`;
    const nested = `${'{"a":'.repeat(400)}1${'}'.repeat(400)}`;
    for (const steps of [deep, nested]) {
      const body = Buffer.from(`{"id":"x","status":"completed","steps":${steps}}`);
      const seen = readInteraction(body);
      expect(seen && withoutMedia(seen, body).body).toBeTypeOf('string');
    }
  });

  it('has an id of bounded length', () => {
    expect(toInteraction({ id: 'x'.repeat(513), status: 'completed' })).toBeUndefined();
  });
});
