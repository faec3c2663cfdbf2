import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteGatherer } from '../../../src/core/sse/byte-gatherer.ts';

function gather(chunks: readonly Buffer[]): ByteGatherer {
  const gatherer = new ByteGatherer();
  for (const chunk of chunks) gatherer.add(chunk);
  return gatherer;
}

it('gives the bytes in order, however they came and whenever it is asked', () => {
  const size = fc.oneof(fc.nat(10), fc.integer({ min: 4000, max: 4200 }), fc.constant(70_000));
  fc.assert(
    fc.property(fc.array(fc.tuple(size, fc.boolean()), { maxLength: 40 }), (sizes) => {
      const gatherer = new ByteGatherer();
      const chunks = sizes.map(([length, asks], index) => {
        const chunk = Buffer.alloc(length, index + 1);
        gatherer.add(chunk);
        if (asks) gatherer.pieces();
        return chunk;
      });
      const whole = Buffer.concat(chunks);
      expect(gatherer.concat().equals(whole)).toBe(true);
      expect(gatherer).toHaveLength(whole.length);
    }),
    { numRuns: 50 },
  );
});

it('gives a lone chunk as it is', () => {
  const chunk = Buffer.from('hello');
  expect(gather([chunk]).concat()).toBe(chunk);
});

it('keeps few pieces of a body that comes byte by byte', () => {
  const chunks = Array.from({ length: 200_000 }, (_, index) => Buffer.from([index & 255]));
  expect(gather(chunks).pieces().length).toBeLessThan(10);
});
