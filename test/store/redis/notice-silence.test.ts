import type { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { askNowAndThen, noticeSilence } from '../../../src/store/backends/redis/notice-silence.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { createGate, type Gate } from '../support/gate.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** A connection whose answers the test gives. */
function connection() {
  const asked: Gate<string>[] = [];
  const cut: unknown[] = [];
  const redis = {
    ping() {
      const gate = createGate<string>();
      asked.push(gate);
      return gate.promise;
    },
    disconnect: (again: unknown) => cut.push(again),
  } as unknown as Redis;
  return { redis, asked, cut };
}

describe('a connection that only listens', () => {
  it('asks every ten seconds, and stays where an answer comes within five', async () => {
    const { redis, asked, cut } = connection();
    const clock = createFakeClock();
    const stop = askNowAndThen(redis, clock);
    clock.advance(9_999);
    expect(asked).toHaveLength(0);
    clock.advance(1);
    expect(asked).toHaveLength(1);
    asked[0]?.resolve('PONG');
    await turn();
    clock.advance(9_999);
    expect([asked.length, cut]).toEqual([1, []]);
    clock.advance(1);
    expect(asked).toHaveLength(2);
    asked[1]?.reject(new Error('away'));
    await turn();
    clock.advance(5_000);
    expect(cut).toEqual([]);
    stop();
    expect(clock.pending).toBe(0);
  });

  it('is made anew where no answer comes, and goes on to ask', async () => {
    const { redis, asked, cut } = connection();
    const clock = createFakeClock();
    const stop = askNowAndThen(redis, clock);
    clock.advance(10_000 + 4_999);
    expect(cut).toEqual([]);
    clock.advance(1);
    expect(cut).toEqual([true]);
    clock.advance(5_000);
    expect(asked).toHaveLength(2);
    stop();
  });
});

describe('a command without an answer', () => {
  it.each([
    [new Error('Command timed out'), 1],
    [new Error('Connection is closed.'), 0],
    ['Command timed out', 0],
  ])('means a new connection only where it timed out: %s', (error, times) => {
    const { redis, cut } = connection();
    noticeSilence(redis, error);
    expect(cut).toEqual(Array.from({ length: times }, () => true));
  });
});
