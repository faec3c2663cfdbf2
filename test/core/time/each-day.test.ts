import { describe, expect, it } from 'vitest';
import { eachDay } from '../../../src/core/time/each-day.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

const HOUR = 3_600_000;
const settled = () => new Promise((resolve) => setImmediate(resolve));

function setUp() {
  const clock = createFakeClock(Date.parse('2026-12-31T22:30:00Z'));
  const runs: string[] = [];
  const failures: Error[] = [];
  const timer = eachDay(clock, async () => {
    runs.push(new Date(clock.now()).toISOString());
    const failure = failures.pop();
    if (failure) throw failure;
  });
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await settled();
  };
  return { clock, runs, failures, timer, advance };
}

describe('eachDay', () => {
  it('runs at midnight by UTC, every day', async () => {
    const { runs, advance } = setUp();
    await advance(1.5 * HOUR - 1);
    expect(runs).toEqual([]);
    await advance(1);
    for (let hour = 0; hour < 24; hour++) await advance(HOUR);
    expect(runs).toEqual(['2027-01-01T00:00:00.000Z', '2027-01-02T00:00:00.000Z']);
  });

  it('sees within an hour that the clock was set', async () => {
    const { clock, runs, advance } = setUp();
    clock.step(5 * HOUR);
    await advance(HOUR);
    expect(runs).toEqual(['2027-01-01T04:30:00.000Z']);
    clock.step(-6 * HOUR);
    await advance(HOUR);
    expect(runs).toHaveLength(2);
  });

  it('runs again a minute after it failed', async () => {
    const { runs, failures, advance } = setUp();
    failures.push(new Error('no store'));
    await advance(HOUR);
    await advance(HOUR / 2);
    await advance(59_999);
    expect(runs).toHaveLength(1);
    await advance(1);
    await advance(HOUR);
    expect(runs).toEqual(['2027-01-01T00:00:00.000Z', '2027-01-01T00:01:00.000Z']);
  });

  it('leaves no timer behind when it is cancelled, also during the work', async () => {
    const idle = setUp();
    idle.timer.cancel();
    expect(idle.clock.pending).toBe(0);
    const busy = setUp();
    busy.clock.advance(HOUR);
    busy.clock.advance(HOUR / 2);
    busy.timer.cancel();
    await settled();
    expect(busy.runs).toHaveLength(1);
    expect(busy.clock.pending).toBe(0);
  });
});
