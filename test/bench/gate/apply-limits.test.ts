import { describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { APPLY_SECONDS, FIRST_START_SECONDS, judgeChat } from './apply-limits.js';

/** A hundred calls of which the slowest two take longer. */
function calls(usual: number, slow: number, failures = 0) {
  return { failures, latencies: [slow, slow, ...Array.from({ length: 98 }, () => usual)] };
}

describe('chat calls during an apply', () => {
  it(
    verifies(
      'ops.performance.apply',
      'hold up to 1.3 times the idle p50, and 1.5 times the idle p99 or 15 ms more',
    ),
    () => {
      expect([APPLY_SECONDS, FIRST_START_SECONDS]).toEqual([5, 3]);
      expect(judgeChat(calls(2, 4), calls(2.6, 19))).toEqual({ p50Times: 1.3, holds: true });
      expect(judgeChat(calls(2, 40), calls(2, 60)).holds).toBe(true);
      expect(judgeChat(calls(2, 4), calls(2.7, 4)).holds).toBe(false);
      expect(judgeChat(calls(2, 4), calls(2, 19.1)).holds).toBe(false);
      expect(judgeChat(calls(2, 40), calls(2, 60.1)).holds).toBe(false);
    },
  );

  it('do not hold where one fails, or none was made', () => {
    expect(judgeChat(calls(2, 4), calls(2, 4, 1)).holds).toBe(false);
    expect(judgeChat({ latencies: [] }, { failures: 0, latencies: [] }).holds).toBe(false);
  });
});
