import { describe, expect, it } from 'vitest';
import { Watchdog } from '../../src/inference/watchdog.ts';
import type { Lapse, WatchdogOptions } from '../../src/inference/watchdog.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { verifies } from '../requirements.ts';

function setup(overrides: Partial<WatchdogOptions> = {}) {
  const clock = createFakeClock();
  const lapses: [Lapse, number][] = [];
  const watchdog = new Watchdog({
    clock,
    timeouts: { firstContent: 300, wholeAnswer: 5000, idle: 200, total: 5000 },
    beforeCommitMs: 300,
    callDeadline: 5000,
    minThroughput: undefined,
    onLapse: (lapse) => lapses.push([lapse, clock.monotonic()]),
    ...overrides,
  });
  return { clock, watchdog, lapses };
}

describe('Watchdog', () => {
  it(
    verifies('routing.timeouts', 'bytes without content do not put off the first-content timeout'),
    () => {
      const { clock, watchdog, lapses } = setup();
      for (let i = 0; i < 40; i++) {
        watchdog.fed(10);
        clock.advance(10);
      }
      expect(lapses).toEqual([['timeout_first_content', 300]]);
    },
  );

  it(
    verifies(
      'routing.timeouts',
      'after the commit only silence counts, measured from the last byte',
    ),
    () => {
      const { clock, watchdog, lapses } = setup();
      watchdog.answering();
      for (let i = 0; i < 10; i++) {
        clock.advance(150);
        watchdog.fed(1);
      }
      expect(lapses).toEqual([]);
      clock.advance(250);
      expect(lapses).toEqual([['timeout_idle', 1700]]);
    },
  );

  it('does not count silence that a slow client causes', () => {
    const { clock, watchdog, lapses } = setup();
    watchdog.answering();
    watchdog.paused(true);
    clock.advance(1000);
    watchdog.paused(false);
    clock.advance(190);
    expect(lapses).toEqual([]);
    clock.advance(20);
    expect(lapses.map(([lapse]) => lapse)).toEqual(['timeout_idle']);
  });

  it('waits for a client that takes nothing as long as a whole call may last', () => {
    const { clock, watchdog, lapses } = setup({ callDeadline: Infinity });
    watchdog.answering();
    for (const reads of [true, false]) {
      watchdog.paused(true);
      clock.advance(4999);
      expect(lapses).toEqual([]);
      if (reads) watchdog.paused(false);
    }
    clock.advance(1);
    expect(lapses).toEqual([['timeout_idle', 9999]]);
  });

  it('sets no timer for ever, which would fire at once', () => {
    const delays: number[] = [];
    const clock = createFakeClock();
    const setTimeout: typeof clock.setTimeout = (fn, ms) => {
      delays.push(ms);
      return clock.setTimeout(fn, ms);
    };
    const { watchdog } = setup({ clock: { ...clock, setTimeout }, callDeadline: Infinity });
    watchdog.answering();
    watchdog.paused(true);
    clock.advance(4000);
    expect(delays.length).toBeGreaterThan(1);
    expect(delays.every(Number.isFinite)).toBe(true);
  });

  it('ends the call at its deadline, committed or not', () => {
    const { clock, watchdog, lapses } = setup({ callDeadline: 250 });
    watchdog.answering();
    for (let i = 0; i < 5; i++) {
      clock.advance(60);
      watchdog.fed(1);
    }
    expect(lapses).toEqual([['timeout_total', 250]]);
  });

  it(
    verifies(
      'routing.min-throughput',
      'gives up a candidate that trickles, although every byte resets the silence',
    ),
    () => {
      const { clock, watchdog, lapses } = setup({
        beforeCommitMs: 4000,
        minThroughput: { bytesPerSecond: 100, over: 1000 },
      });
      for (let i = 0; i < 15; i++) {
        watchdog.fed(5);
        clock.advance(100);
      }
      expect(lapses.map(([lapse]) => lapse)).toEqual(['min_throughput']);
    },
  );

  it(verifies('routing.min-throughput', 'leaves a candidate alone that is fast enough'), () => {
    const { clock, watchdog, lapses } = setup({
      beforeCommitMs: 4000,
      minThroughput: { bytesPerSecond: 100, over: 1000 },
    });
    for (let i = 0; i < 15; i++) {
      watchdog.fed(20);
      clock.advance(100);
    }
    expect(lapses).toEqual([]);
  });

  it('judges no slow candidate once it has opened its reasoning', () => {
    const { clock, watchdog, lapses } = setup({
      timeouts: { firstContent: 300, wholeAnswer: 5000, idle: 2000, total: 5000 },
      minThroughput: { bytesPerSecond: 100, over: 1000 },
    });
    watchdog.fed(20);
    watchdog.answering();
    clock.advance(1990);
    expect(lapses).toEqual([]);
    clock.advance(10);
    expect(lapses).toEqual([['timeout_idle', 2000]]);
  });

  it('leaves no timer behind', () => {
    const { clock, watchdog } = setup();
    watchdog.answering();
    watchdog.stop();
    expect(clock.pending).toBe(0);
  });
});
