import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createUsageReader } from '../../src/apis/usage-reader.ts';
import { makeApi } from './make-api.ts';
import { anyCharacter } from '../support/text/any-character.ts';

const api = makeApi({
  usage: {
    input: { field: '$.usage.total_tokens', most: 10 },
    images: { field: "$['data'][0]['n']", most: 10 },
  },
});

/** Pushed in pieces of one byte. */
function read(text: string, type: string | undefined) {
  const reader = createUsageReader(api, type);
  for (const byte of Buffer.from(text)) reader?.push(Buffer.from([byte]));
  return reader?.end();
}

describe('what an answer counts', () => {
  it('is not looked for where no price asks for it', () => {
    expect(createUsageReader(makeApi(), 'application/json')).toBeUndefined();
  });

  it('is found in a document, whatever it is called', () => {
    const text = '{"usage":{"total_tokens":12.5},"data":[{"n":3}],"x":"ü"}';
    for (const type of ['application/json', 'text/plain', undefined]) {
      expect(read(text, type)).toMatchObject({ input: 12.5, images: 3, output: 0 });
    }
  });

  it('is the last that a stream tells', () => {
    const one = '{"usage":{"total_tokens":1}}';
    const two = '{"usage":{"total_tokens":2}}';
    const other = '{"data":[{"n":4}]}';
    const events = `: hi\n\ndata: ${one}\n\nevent: x\r\ndata: ${other}\r\n\r\ndata: ${two}\n\ndata: [DONE]\n\n`;
    expect(read(events, 'text/event-stream; charset=utf-8')).toMatchObject({ input: 2, images: 4 });
    expect(read(`data: ${two}`, 'text/event-stream')).toMatchObject({ input: 2 });
    const lines = `${one}\n\nnot json\n${other}\r\n${two}`;
    expect(read(lines, 'application/x-ndjson')).toMatchObject({ input: 2, images: 4 });
  });

  it.each([
    ['nothing', ''],
    ['no JSON', '<html>'],
    ['a part', '{"usage":{"total_tokens":12}'],
    ['a text', '{"usage":{"total_tokens":"12"}}'],
    ['a negative number', '{"usage":{"total_tokens":-1}}'],
    ['an infinite number', '{"usage":{"total_tokens":1e999}}'],
    ['another place', '{"total_tokens":12,"usage":null,"data":{"0":1}}'],
    ['what every object has', '{"usage":{"__proto__":{"total_tokens":1}}}'],
  ])('is unknown from %s', (_what, text) => {
    expect(read(text, 'application/json')).toBeUndefined();
  });

  it('is unknown from what is too large to look into', () => {
    const reader = createUsageReader(api, 'application/json');
    const chunk = Buffer.alloc(1024 * 1024, ' ');
    for (let count = 0; count < 17; count++) reader?.push(chunk);
    reader?.push(Buffer.from('{"usage":{"total_tokens":12}}'));
    expect(reader?.end()).toBeUndefined();
  });

  it('never throws', () => {
    const type = fc.constantFrom('application/json', 'text/event-stream', 'application/x-ndjson');
    fc.assert(
      fc.property(type, fc.array(fc.string({ unit: anyCharacter })), (contentType, chunks) => {
        const reader = createUsageReader(api, contentType);
        for (const chunk of chunks) reader?.push(Buffer.from(chunk));
        reader?.end();
      }),
    );
  });
});
