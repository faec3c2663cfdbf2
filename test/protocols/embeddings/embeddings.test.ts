import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { embeddings } from '../../../src/protocols/embeddings/parts.ts';
import { verifies } from '../../requirements.ts';
import { ANSWER, encodeOptions, atOnce } from '../../support/protocols.ts';

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const peek = (rest: object) => embeddings.peek(json({ model: 'm', input: 'a', ...rest }));
const entry = (embedding: unknown, index = 0) => ({ object: 'embedding', index, embedding });
const list = (...data: object[]) =>
  json({ object: 'list', model: 'u', data, usage: { prompt_tokens: 3, total_tokens: 3 } });
const toBase64 = (numbers: number[]): string =>
  Buffer.from(new Float32Array(numbers).buffer).toString('base64');

describe('an embeddings request', () => {
  it.each([
    ['not JSON', '{', undefined],
    ['without a model', '{"input":"a"}', 'model'],
    ['without an input', '{"model":"m"}', 'input'],
    ['with an empty input', '{"model":"m","input":[]}', 'input'],
    ['with an input that is no text', '{"model":"m","input":{"a":1}}', 'input'],
    ['with tokens and texts in one list', '{"model":"m","input":[1,2,"a"]}', 'input'],
    [
      'in an unknown encoding',
      '{"model":"m","input":"a","encoding_format":"int8"}',
      'encoding_format',
    ],
    ['that names its input twice', '{"model":"m","input":"a","input":"b"}', 'input'],
  ])(verifies('embeddings.request.validation', 'is refused %s'), (_, body, param) => {
    const refused = expect(() => embeddings.peek(Buffer.from(body)));
    refused.toThrow(expect.objectContaining({ status: 400, ...(param && { param }) }));
  });

  it('goes on as it came but for the model', () => {
    const body = Buffer.from(
      '{ "input" : ["a", 1.0],"x":{"b":9007199254740993}, "model":"acme/e" }',
    );
    const sent = embeddings.encode(embeddings.peek(body), encodeOptions());
    expect(sent.toString()).toBe(
      '{ "input" : ["a", 1.0],"x":{"b":9007199254740993}, "model":"up" }',
    );
  });
});

describe('an embeddings answer', () => {
  it(verifies('embeddings.response.ok', 'passes byte for byte when it is as asked for'), () => {
    const body = Buffer.from(
      ' {"object":"list","data":[{"object":"embedding","index":0,"embedding":[1.0,-0.5]}],"x":1}',
    );
    expect(atOnce(embeddings.readAnswer(body, peek({}), ANSWER))?.body).toBe(body);
  });

  it(
    verifies(
      'embeddings.encoding-format',
      'comes in the encoding asked for, whatever the provider sends',
    ),
    () => {
      fc.assert(
        fc.property(
          fc.array(fc.float({ noNaN: true, noDefaultInfinity: true }), {
            minLength: 1,
            maxLength: 40,
          }),
          (numbers) => {
            const read = (answer: Buffer, format: string): { embedding: unknown } =>
              JSON.parse(
                String(
                  atOnce(embeddings.readAnswer(answer, peek({ encoding_format: format }), ANSWER))
                    ?.body,
                ),
              ).data[0];
            const plain = numbers.map((number) => (Object.is(number, -0) ? 0 : number));
            expect(read(list(entry(plain)), 'base64').embedding).toBe(toBase64(plain));
            expect(read(list(entry(toBase64(plain))), 'float').embedding).toEqual(plain);
            expect(read(list(entry(toBase64(plain))), 'base64').embedding).toBe(toBase64(plain));
          },
        ),
      );
    },
  );

  it(verifies('embeddings.response.ok', 'has one entry per input, in input order'), () => {
    const shuffled = list(entry([2], 1), entry([3], 2), entry([1], 0));
    const answer = atOnce(
      embeddings.readAnswer(shuffled, peek({ input: ['a', 'b', 'c'] }), ANSWER),
    );
    const data = JSON.parse(String(answer?.body)).data as { index: number; embedding: number[] }[];
    expect(data.map(({ index, embedding }) => [index, embedding[0]])).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
    ]);
  });

  it('counts one list of tokens as one input', () => {
    expect(
      atOnce(embeddings.readAnswer(list(entry([1])), peek({ input: [1, 2, 3] }), ANSWER)),
    ).toBeDefined();
    expect(
      atOnce(embeddings.readAnswer(list(entry([1])), peek({ input: [[1], [2]] }), ANSWER)),
    ).toBeUndefined();
  });

  it('tells the tokens', () => {
    expect(atOnce(embeddings.readAnswer(list(entry([1])), peek({}), ANSWER))?.usage).toMatchObject({
      input: 3,
      output: 0,
    });
    expect(
      atOnce(embeddings.readAnswer(json({ data: [entry([1])] }), peek({}), ANSWER))?.usage,
    ).toBeUndefined();
  });

  it.each([
    ['not JSON', Buffer.from('{"data":')],
    ['without data', json({ object: 'list' })],
    ['fewer vectors than inputs', list()],
    ['an empty vector', list(entry([]))],
    ['words for numbers', list(entry(['1']))],
    ['base64 of no whole floats', list(entry('AAA='))],
    ['no base64', list(entry('not base64!'))],
    ['an error', json({ error: { message: 'm' } })],
  ])('is no answer with %s', (_, body) => {
    expect(atOnce(embeddings.readAnswer(body, peek({}), ANSWER))).toBeUndefined();
  });
});
