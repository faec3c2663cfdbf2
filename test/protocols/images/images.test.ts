import { Buffer } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import type { Form } from '../../../src/core/form.ts';
import { gatherBody } from '../../../src/core/memory/spooled-body.ts';
import type { SpooledBody } from '../../../src/core/memory/spooled-body.ts';
import { images } from '../../../src/protocols/images/parts.ts';
import { verifies } from '../../requirements.ts';
import { toForm } from '../../support/form-text.ts';
import { ANSWER, encodeOptions, atOnce } from '../../support/protocols.ts';

const peek = (body: string) => images.peek(Buffer.from(body));

/** A form of text fields; a file has no value. */
function formOf(fields: readonly (readonly [name: string, value: string | undefined])[]): Form {
  return toForm(
    fields.map(([name, value]) =>
      value === undefined ? { name, filename: 'f', content: 'x' } : { name, content: value },
    ),
  );
}

const peekForm = (...fields: (readonly [string, string | undefined])[]) =>
  images.peek(Buffer.alloc(0), { form: formOf(fields) });

describe('a request for images', () => {
  it(
    verifies(
      'images.generations.json',
      'routing.model-rewrite-only',
      'goes on as it came but for the model',
    ),
    () => {
      const body =
        '{ "n" : 2,"x":{"b":9007199254740993, "c":1.0}, "model":"acme/p","async":false }';
      const sent = images.encode(peek(body), encodeOptions());
      expect(sent.toString()).toBe(body.replace('acme/p', 'up'));
    },
  );

  it('gets the shape that its provider needs', async () => {
    const quirks = { drop: ['x'], rename: { y: 'z' }, default: { w: 1 } };
    const sent = images.encode(peek('{"model":"m","x":1,"y":2}'), encodeOptions({ quirks }));
    expect(sent.toString()).toBe('{"model":"up","z":2,"w":1}');
    const { form } = peekForm(['model', 'm'], ['x', '1']);
    const body = images.encodeForm?.(form as Form, encodeOptions({ quirks }));
    expect((await gatherBody(body as SpooledBody, 1000))?.toString()).toContain(
      'name="w"\r\n\r\n1',
    );
  });

  it.each([
    ['nothing but the model', '{"model":"m"}', 1],
    ['a number', '{"model":"m","n":4}', 4],
    ['a number as text', '{"model":"m","n":"3"}', 3],
    ['a fraction', '{"model":"m","n":1.5}', 2],
    ['no number', '{"model":"m","n":{}}', 1],
    ['less than one', '{"model":"m","n":-5}', 1],
  ])('is bounded by its count: %s', (_, body, count) => {
    expect(peek(body)).toMatchObject({ imagesBound: count, outputBound: count * 16_384 });
    const n = JSON.parse(body).n;
    if (typeof n === 'number')
      expect(peekForm(['model', 'm'], ['n', String(n)]).imagesBound).toBe(count);
  });

  it('reserves what its pictures may count, however small their files are', () => {
    const one = peekForm(['model', 'm'], ['image', undefined]);
    const two = peekForm(['model', 'm'], ['image', undefined], ['image', undefined]);
    expect(two.inputBound - one.inputBound).toBe(16_384);
  });

  it('keeps the texts of a form for the record, and none of its files', () => {
    const { body } = peekForm(['prompt', 'a'], ['image', undefined], ['model', 'm']);
    expect(body.toString()).toBe('[{"prompt":"a"},{"model":"m"}]');
  });

  it.each([
    ['{"model":"m","stream":true}', 'stream'],
    ['{"model":"m","stream":1}', 'stream'],
    ['{"model":"m","async":true}', 'async'],
    ['{"model":"m","async":"no"}', 'async'],
    ['{"model":"m","stream":false,"stream":true}', 'stream'],
    ['{"model":"m","\\u0073tream":true}', 'stream'],
    ['{"model":"m","Stream":true}', 'stream'],
    ['{"model":"m","model":"n"}', 'model'],
    ['{"prompt":"x"}', 'model'],
  ])(verifies('images.stream-async.rejected', 'is refused as %s'), (body, param) => {
    expect(() => peek(body)).toThrow(
      expect.objectContaining({ code: 'invalid_request', status: 400, param }),
    );
  });

  it('is read or refused, whatever is sent', () => {
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom('m', true, 2, 'true'));
    const member = fc.tuple(fc.constantFrom('model', 'n', 'stream', 'async', 'x'), value);
    fc.assert(
      fc.property(fc.array(member), fc.nat(60), fc.string(), (members, at, more) => {
        const text = JSON.stringify(Object.fromEntries(members));
        expectRefusal(() => peek(text.slice(0, at) + more + text.slice(at)));
        expectRefusal(() =>
          peekForm(...members.map(([name, one]) => [name, JSON.stringify(one)] as const)),
        );
      }),
    );
  });
});

function expectRefusal(read: () => unknown): void {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError);
    expect((error as GatewayError).status).toBe(400);
  }
}

describe('an answer with images', () => {
  const read = (body: string, options = ANSWER) =>
    atOnce(images.readAnswer(Buffer.from(body), peek('{"model":"m"}'), options));

  it(verifies('images.usage.authoritative', "counts what the provider's usage says"), () => {
    const usage = {
      input_tokens: 100,
      input_tokens_details: { text_tokens: 10, image_tokens: 90, cached_tokens: 40 },
      output_tokens: 7,
    };
    expect(
      read(JSON.stringify({ data: [{ url: 'u' }, { b64_json: 'x' }], usage }))?.usage,
    ).toMatchObject({
      input: 60,
      cacheRead: 40,
      output: 7,
      images: 2,
      raw: usage,
    });
  });

  it.each(['null', '[]', '{}', '{"input_tokens":-1,"output_tokens":"7"}'])(
    verifies('images.usage.authoritative', 'invents no tokens from a usage of %s'),
    (usage) => {
      expect(read(`{"data":[{"url":"u"}],"usage":${usage}}`)?.usage).toMatchObject({
        input: 0,
        output: 0,
        images: 1,
      });
    },
  );

  it('passes byte for byte, under the logical name where the route asks for it', () => {
    const body = Buffer.from(' { "data":[{"url":"u"}],"model":"up","x":1.0 }');
    const asked = peek('{"model":"m"}');
    expect(atOnce(images.readAnswer(body, asked, ANSWER))?.body).toBe(body);
    const renamed = atOnce(images.readAnswer(body, asked, { ...ANSWER, logicalModel: 'acme/p' }));
    expect(renamed?.body.toString()).toBe(body.toString().replace('"up"', '"acme/p"'));
  });

  it.each([
    '',
    '[]',
    'null',
    '{}',
    '{"data":{}}',
    '{"data":[]}',
    '{"data":[{}]}',
    '{"data":[{"url":1}]}',
  ])(verifies('images.status.500-502-503', 'is none when it is %s'), (body) => {
    expect(read(body)).toBeUndefined();
  });
});
