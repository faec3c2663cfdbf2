import { describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { faultsOfWaits, judgeWaits } from './waits.js';

/** A thousand probes of which some wait as long as told. */
function probes(...late: number[]) {
  return { failures: 0, latencies: [...late, ...Array.from({ length: 1_000 }, () => 2)] };
}

describe('the waits of others beside a large input', () => {
  it('hold up to 250 ms once and 50 ms at p99', () => {
    expect(judgeWaits(probes(250))).toEqual({ longest: 250, p99: 2, holds: true });
    expect(judgeWaits(probes(...Array.from({ length: 50 }, () => 50))).holds).toBe(true);
  });

  it('do not hold for one longer wait, a late hundredth, or a failed probe', () => {
    expect(judgeWaits(probes(250.1)).holds).toBe(false);
    expect(judgeWaits(probes(...Array.from({ length: 50 }, () => 50.1))).holds).toBe(false);
    expect(judgeWaits({ ...probes(), failures: 1 }).holds).toBe(false);
  });

  it('do not hold where nothing was measured', () => {
    expect(judgeWaits({ failures: 0, latencies: [] }).holds).toBe(false);
  });

  it(
    verifies('limits.stall.legal-body', 'are told for each input beside which they are too long'),
    () => {
      const waits = { idle: judgeWaits(probes()), large: judgeWaits(probes(300.4)) };
      expect(faultsOfWaits(waits)).toEqual([
        'large: others wait up to 300 ms (p99 2 ms), 250 ms (50 ms) are allowed',
      ]);
      expect(faultsOfWaits({ idle: judgeWaits(probes()) })).toEqual([]);
    },
  );
});
