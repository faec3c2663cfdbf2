import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  correctDeadline,
  lengthOf,
  timeLeft,
  toDeadline,
} from '../../../src/core/time/deadline.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
const NOW = Date.UTC(2026, 10, 21);
const instants = fc.integer({ min: Date.UTC(2020), max: Date.UTC(2100) });

describe('a deadline', () => {
  it('passes at its end and not a millisecond before', () => {
    fc.assert(
      fc.property(instants, fc.integer({ min: 1, max: 800 * DAY }), (now, ms) => {
        const deadline = toDeadline(now, ms);
        expect(deadline).toBeLessThanOrEqual(now + ms);
        expect(deadline).toBeGreaterThan(now + ms - 1 - 1e-9);
      }),
    );
  });

  it.each([SECOND, 15 * SECOND, 10 * 60 * SECOND, HOUR, 24 * HOUR, 30 * DAY, 90 * DAY, 400 * DAY])(
    'knows its length of %i ms',
    (ms) => expect(lengthOf(toDeadline(NOW, ms))).toBe(ms),
  );

  it('takes a length that no unit holds for a little longer, never for shorter', () => {
    fc.assert(
      fc.property(instants, fc.integer({ min: 1, max: 500 * DAY }), (now, ms) => {
        const length = lengthOf(toDeadline(now, ms)) ?? Number.NaN;
        expect(length).toBeGreaterThanOrEqual(ms);
        expect(length).toBeLessThan(ms + Math.max(SECOND, ms / 4));
      }),
    );
  });

  it('knows none when it was never given one', () => {
    expect(lengthOf(NOW)).toBeUndefined();
    expect(lengthOf(Infinity)).toBeUndefined();
    expect(lengthOf(toDeadline(NOW, 700 * DAY))).toBeUndefined();
  });

  it('of a clock that was ahead lasts its length from now on', () => {
    for (const ahead of [2 * HOUR, 400 * DAY])
      for (const ms of [15 * SECOND, HOUR, 30 * DAY]) {
        const corrected = correctDeadline(toDeadline(NOW + ahead, ms), NOW);
        expect(corrected).toBe(toDeadline(NOW, ms));
        expect(correctDeadline(corrected, NOW)).toBe(corrected);
      }
  });

  it('has never more time left than its length', () => {
    const deadline = toDeadline(NOW, 30 * SECOND);
    expect(timeLeft(deadline, NOW - 2 * HOUR)).toBe(30 * SECOND);
    expect(timeLeft(deadline, NOW)).toBe(30 * SECOND);
    expect(timeLeft(deadline, NOW + SECOND)).toBe(29 * SECOND);
    expect(timeLeft(deadline, NOW + 31 * SECOND)).toBeLessThan(0);
  });

  it('stays as it is under any later clock, and one that is ahead by seconds', () => {
    fc.assert(
      fc.property(
        instants,
        fc.integer({ min: 1, max: 500 * DAY }),
        fc.integer({ min: -9_000, max: 500 * DAY }),
        (now, ms, passed) => {
          const deadline = toDeadline(now, ms);
          expect(correctDeadline(deadline, now + passed)).toBe(deadline);
        },
      ),
    );
  });
});
