import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChunkedDecoder } from '../../../src/upstream/http1/chunked-decoder.ts';

const chunk = fc
  .record({
    // Sizes of one digit have a way of their own.
    size: fc.oneof(fc.integer({ min: 1, max: 17 }), fc.integer({ min: 1, max: 300 })),
    extension: fc.constantFrom('', '', '', ';a=b'),
    filler: fc.constantFrom('x', '\r', '\n', '1'),
  })
  .map(({ size, extension, filler }) => {
    return { wire: `${size.toString(16)}${extension}\r\n${filler.repeat(size)}\r\n`, size, filler };
  });

/** What comes of a body in pieces, and whether other bytes of their buffers stay as they are. */
function decode(pieces: readonly string[]) {
  const decoder = new ChunkedDecoder();
  const told = { body: '', error: '', keepsOthers: true };
  for (const piece of pieces) {
    const bytes = Buffer.from(`before${piece}behind`, 'latin1');
    const end = bytes.length - 6;
    try {
      decoder.decode(bytes, 6, end);
    } catch (error) {
      told.error = (error as Error).message;
    }
    const { payloadStart, payloadLength } = decoder;
    told.body += bytes.toString('latin1', payloadStart, payloadStart + payloadLength);
    const others = bytes.toString('latin1', 0, 6) + bytes.toString('latin1', end);
    told.keepsOthers &&= others === 'beforebehind';
    if (told.error !== '') break;
  }
  return { ...told, done: decoder.done };
}

function cut(text: string, places: readonly number[]): string[] {
  const at = [0, ...places.map((place) => place % (text.length + 1)), text.length];
  at.sort((a, b) => a - b);
  return at.slice(1).map((end, index) => text.slice(at[index], end));
}

describe('a chunked body', () => {
  it('is the same in whatever pieces it comes', () => {
    fc.assert(
      fc.property(fc.array(chunk), fc.array(fc.nat(), { maxLength: 6 }), (chunks, places) => {
        const wire = `${chunks.map((one) => one.wire).join('')}0\r\n\r\n`;
        const body = chunks.map(({ size, filler }) => filler.repeat(size)).join('');
        const expected = { body, done: true, error: '', keepsOthers: true };
        expect(decode(cut(wire, places))).toEqual(expected);
      }),
    );
  });

  it('with a fault is refused at the same place as byte by byte', () => {
    const fault = fc.tuple(fc.nat(), fc.constantFrom('\r', '\n', '0', 'g', ' ', ';', 'f', '\0'));
    fc.assert(
      fc.property(fc.array(chunk, { minLength: 1 }), fault, (chunks, [place, byte]) => {
        const sound = `${chunks.map((one) => one.wire).join('')}0\r\n\r\n`;
        const at = place % sound.length;
        const wire = sound.slice(0, at) + byte + sound.slice(at + 1);
        const whole = decode([wire]);
        expect(whole).toEqual(decode(wire.split('')));
        expect(whole.keepsOthers).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('of a million chunks of one byte is moved together in place', () => {
    const bytes = Buffer.from('1\r\nx\r\n'.repeat(1_000_000), 'latin1');
    const decoder = new ChunkedDecoder();
    expect(decoder.decode(bytes, 0, bytes.length)).toBe(bytes.length);
    expect(decoder.payloadLength).toBe(1_000_000);
    const body = bytes.subarray(decoder.payloadStart, decoder.payloadStart + 1_000_000);
    expect(body.equals(Buffer.alloc(1_000_000, 'x'))).toBe(true);
  });
});
