import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/core/errors.ts';
import { encodeChat, peekChat } from '../../../src/protocols/chat/chat-request.ts';
import type { EncodeOptions } from '../../../src/protocols/protocol.ts';
import { jsonObjectText } from '../../core/json-text.ts';
import { verifies } from '../../requirements.ts';
import { runsOf } from '../../runs.ts';
import { encodeOptions } from '../../support/protocols.ts';

const READ = ['model', 'stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'n'];

function encode(text: string, options: Partial<EncodeOptions> = {}): string {
  return encodeChat(
    peekChat(Buffer.from(text)),
    encodeOptions({ askUsage: false, ...options }),
  ).toString();
}

function refusal(text: string): unknown {
  try {
    peekChat(Buffer.from(text));
  } catch (error) {
    if (error instanceof GatewayError)
      return { code: error.code, status: error.status, param: error.param };
    throw error;
  }
  return 'accepted';
}

describe('peekChat', () => {
  it.each([
    ['{"model":"m"', 'invalid_json', undefined],
    ['[]', 'invalid_json', undefined],
    ['', 'invalid_json', undefined],
    ['{"messages":[]}', 'invalid_request', 'model'],
    ['{"model":null}', 'invalid_request', 'model'],
    ['{"model":""}', 'invalid_request', 'model'],
    ['{"model":["m"]}', 'invalid_request', 'model'],
    ['{"model":"m","stream":"true"}', 'invalid_request', 'stream'],
    ['{"model":"m","stream":1}', 'invalid_request', 'stream'],
    ['{"model":"m","model":"n"}', 'invalid_request', 'model'],
    ['{"model":"m","stream":false,"str\\u0065am":true}', 'invalid_request', 'stream'],
    ['{"model":"m","stream_options":{},"stream_options":{}}', 'invalid_request', 'stream_options'],
  ])(
    verifies('chat.request.validation', 'answers %s with 400 %s and the field %s'),
    (text, code, param) => {
      expect(refusal(text)).toEqual({ code, status: 400, param });
    },
  );

  it('reads what routing and reservation need', () => {
    const body = Buffer.from(
      '{"model":"a/b","stream":true,"max_tokens":10,"n":3,"stream_options":{"include_usage":true}}',
    );
    expect(peekChat(body)).toMatchObject({
      model: 'a/b',
      stream: true,
      keepUsage: true,
      choices: 3,
      inputBound: body.length,
      outputBound: 30,
    });
    expect(peekChat(Buffer.from('{"model":"m","stream":null}'))).toMatchObject({
      stream: false,
      keepUsage: false,
      choices: 1,
      outputBound: undefined,
    });
  });

  it('prefers max_completion_tokens and ignores numbers that bound nothing', () => {
    const bound = (rest: string): number | undefined =>
      peekChat(Buffer.from(`{"model":"m",${rest}}`)).outputBound;
    expect(bound('"max_tokens":10,"max_completion_tokens":20')).toBe(20);
    expect(bound('"max_tokens":10,"max_completion_tokens":null')).toBe(10);
    expect(bound('"max_tokens":-1')).toBeUndefined();
    expect(bound('"max_tokens":"10"')).toBeUndefined();
    expect(bound('"max_tokens":10,"n":0')).toBe(10);
  });
});

describe('encodeChat', () => {
  it(
    verifies(
      'routing.body.byte-faithful',
      'routing.model-rewrite-only',
      'changes only the model value',
    ),
    () => {
      const text =
        ' { "messages" : [ {"role":"user","content":"\\u00fc\\/ \\"model\\":\\"x\\" ü"} ] ,\n\t"temperature":1.0,"seed":9007199254740993,"model" : "acme/m" , "x-own":{"model":"acme/m","b":1e2},"top_p":0.10 }\r\n';
      expect(encode(text, { model: 'up-"1"' })).toBe(text.replace(': "acme/m"', ': "up-\\"1\\""'));
      fc.assert(
        fc.property(jsonObjectText, fc.string({ minLength: 1 }), (other, model) => {
          const rest =
            other.trim().slice(1, -1).trim() === '' ? '' : `,${other.trim().slice(1, -1)}`;
          // Look-alikes of what the gateway reads are refused, as another test says.
          const keys = Object.keys(JSON.parse(other) as object);
          fc.pre(!keys.some((key) => READ.includes(key.normalize('NFKC').toLowerCase())));
          const client = `{"model" : "logical"${rest}}`;
          expect(encode(client, { model })).toBe(`{"model" : ${JSON.stringify(model)}${rest}}`);
        }),
      );
    },
  );

  it('sends the very body when the names agree', () => {
    const body = Buffer.from('{"model":"m"}');
    expect(encodeChat(peekChat(body), encodeOptions({ model: 'm' }))).toBe(body);
  });

  it.each([
    [
      '{"model":"m","stream":true}',
      '{"model":"up","stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      '{"model":"m","stream":true,"stream_options":null}',
      '{"model":"up","stream":true,"stream_options":{"include_usage":true}}',
    ],
    [
      '{"stream_options":{ },"model":"m","stream":true}',
      '{"stream_options":{"include_usage":true },"model":"up","stream":true}',
    ],
    [
      '{"stream_options":{"include_obfuscation":false , "x":1.0},"model":"m","stream":true}',
      '{"stream_options":{"include_obfuscation":false , "x":1.0,"include_usage":true},"model":"up","stream":true}',
    ],
    [
      '{"stream_options":{"include_usage" :false},"model":"m","stream":true}',
      '{"stream_options":{"include_usage" :true},"model":"up","stream":true}',
    ],
    [
      '{"model":"m","stream":true,"stream_options":7}',
      '{"model":"up","stream":true,"stream_options":7}',
    ],
    ['{"model":"m","stream":false}', '{"model":"up","stream":false}'],
  ])(verifies('chat.stream.include-usage', 'asks for usage in %s'), (text, expected) => {
    expect(encode(text, { askUsage: true })).toBe(expected);
  });

  it('does not ask where it must not', () => {
    const text = '{"model":"m","stream":true}';
    expect(encode(text, { askUsage: false })).toBe('{"model":"up","stream":true}');
  });

  it('applies quirks after everything else', () => {
    const quirks = {
      drop: ['stream_options', 'seed'],
      rename: { max_tokens: 'max_completion_tokens' },
      default: { safe: true },
    };
    const text = '{"model":"m","seed":1,"stream":true,"stream_options":{},"max_tokens":5}';
    expect(encode(text, { askUsage: true, quirks })).toBe(
      '{"model":"up","stream":true,"max_completion_tokens":5,"safe":true}',
    );
  });

  it('never throws but a gateway error on mutated bodies', () => {
    const source =
      '{"model":"m","stream":true,"stream_options":{"include_usage":false},"n":2,"messages":[{"a":"\\"b"}]}';
    const edit = fc.tuple(
      fc.nat(),
      fc.nat({ max: 3 }),
      fc.oneof(
        fc.uint8Array({ maxLength: 3 }),
        fc.constantFrom(...['"', '{', '}', '[', ',', '\\'].map((piece) => Buffer.from(piece))),
      ),
    );
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
        let bytes = Buffer.from(source);
        for (const [at, gone, put] of edits) {
          const place = at % (bytes.length + 1);
          bytes = Buffer.concat([bytes.subarray(0, place), put, bytes.subarray(place + gone)]);
        }
        let peek;
        try {
          peek = peekChat(bytes);
        } catch (error) {
          expect(error).toBeInstanceOf(GatewayError);
          return;
        }
        const sent = JSON.parse(encodeChat(peek, encodeOptions()).toString());
        expect(sent).toMatchObject({ model: 'up' });
      }),
      { numRuns: runsOf(400, 1500) },
    );
  });
});
