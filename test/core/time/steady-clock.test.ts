import { describe, expect, it } from 'vitest';
import { toDeadline } from '../../../src/core/time/deadline.ts';
import { createSteadyClock } from '../../../src/core/time/steady-clock.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const HOUR = 3_600_000;

describe('a steady clock', () => {
  it('goes with the wall clock, also while that drifts', () => {
    const clock = createFakeClock();
    const steady = createSteadyClock(clock);
    for (let i = 0; i < 100; i++) {
      clock.advance(10_000);
      clock.step(i % 2 === 0 ? 400 : -300);
      expect(steady.now()).toBe(clock.now());
    }
    expect(steady.setBacks()).toBe(0);
  });

  it.each([2 * HOUR, 400 * 24 * HOUR])('follows a step ahead of %i ms two minutes later', (ms) => {
    const clock = createFakeClock();
    const steady = createSteadyClock(clock);
    const before = clock.now();
    clock.step(ms);
    expect(steady.now()).toBe(before);
    clock.advance(119_999);
    expect(steady.now()).toBe(before + 119_999);
    clock.advance(1);
    expect(steady.now()).toBe(clock.now());
    expect(steady.setBacks()).toBe(0);
  });

  it.each([2 * HOUR, 400 * 24 * HOUR])('follows a step back of %i ms at once, and tells', (ms) => {
    const clock = createFakeClock();
    const steady = createSteadyClock(clock);
    clock.step(-ms);
    expect(steady.now()).toBe(clock.now());
    expect(steady.setBacks()).toBe(1);
  });

  it.each([2 * HOUR, 400 * 24 * HOUR])(
    'ends a deadline in its time beside a step of %i ms',
    (ms) => {
      const clock = createFakeClock();
      const steady = createSteadyClock(clock);
      const before = toDeadline(clock.now(), 30_000);
      clock.step(ms);
      const since = toDeadline(clock.now(), 30_000);
      clock.advance(29_999);
      expect([before, since].map((one) => steady.hasPassed(one))).toEqual([false, false]);
      clock.advance(1);
      expect([before, since].map((one) => steady.hasPassed(one))).toEqual([true, true]);
    },
  );

  it.each([2 * HOUR, 400 * 24 * HOUR])(
    'ends a deadline made between two steps of %i ms in its time',
    (ms) => {
      const clock = createFakeClock();
      const steady = createSteadyClock(clock);
      clock.step(ms);
      steady.now();
      clock.advance(100_000);
      const between = toDeadline(clock.now(), 60_000);
      clock.step(ms);
      expect(steady.hasPassed(between)).toBe(false);
      clock.advance(20_000);
      expect(steady.now()).toBe(clock.now() - ms);
      clock.advance(39_999);
      expect([steady.now() < between, steady.hasPassed(between)]).toEqual([true, false]);
      clock.advance(1);
      expect([steady.now() < between, steady.hasPassed(between)]).toEqual([false, true]);
      clock.advance(60_000);
      expect(steady.now()).toBe(clock.now());
    },
  );

  it('knows of the step before a deadline that is made with its wall time', () => {
    const clock = createFakeClock();
    const steady = createSteadyClock(clock);
    clock.step(-HOUR);
    expect(steady.wall()).toBe(clock.now());
    const deadline = toDeadline(clock.now(), 60_000);
    clock.step(HOUR);
    clock.advance(59_999);
    expect([steady.hasPassed(deadline), steady.now() < deadline]).toEqual([false, true]);
    clock.advance(1);
    expect([steady.hasPassed(deadline), steady.now() < deadline]).toEqual([true, false]);
  });

  it('tells of a step back to the right time, soon after the step ahead and late', () => {
    const clock = createFakeClock();
    const steady = createSteadyClock(clock);
    for (const wait of [1_000, HOUR]) {
      clock.step(HOUR);
      steady.now();
      clock.advance(wait);
      steady.now();
      clock.step(-HOUR);
      expect(steady.now()).toBe(clock.now());
    }
    expect(steady.setBacks()).toBe(2);
  });
});
