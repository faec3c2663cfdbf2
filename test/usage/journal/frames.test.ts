import { Buffer } from 'node:buffer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFrames, toFrameHead } from '../../../src/usage/journal/frames.ts';

const frameOf = (first: number, lines: readonly string[]): Buffer => {
  const parts = lines.map((line) => Buffer.from(`${line}\n`));
  return Buffer.concat([toFrameHead({ first, count: lines.length, parts }), ...parts]);
};

const read = (bytes: Buffer): [number, string[]][] =>
  Array.from(readFrames(bytes), ({ first, lines }) => [first, lines.map(String)]);

const line = fc.string().map((text) => JSON.stringify(text));

describe('frames of a journal', () => {
  it('come back as they were written, up to the one that is cut anywhere', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(line, { minLength: 1 }), { maxLength: 5 }),
        fc.nat(),
        (all, cut) => {
          let first = 1;
          const frames = all.map((lines) => {
            const frame = { first, lines, bytes: frameOf(first, lines) };
            first += lines.length;
            return frame;
          });
          const bytes = Buffer.concat(frames.map((frame) => frame.bytes));
          expect(read(bytes)).toEqual(frames.map((frame) => [frame.first, frame.lines]));
          const end = cut % (bytes.length + 1);
          let size = 0;
          const whole = frames.filter((frame) => (size += frame.bytes.length) <= end);
          expect(read(bytes.subarray(0, end))).toHaveLength(whole.length);
        },
      ),
    );
  });

  it('end where a byte is not what was written', () => {
    const bytes = Buffer.concat([frameOf(1, ['a', 'b']), frameOf(3, ['c'])]);
    for (let at = 0; at < bytes.length; at++) {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1;
      expect(read(changed).length).toBeLessThan(2);
    }
  });
});
