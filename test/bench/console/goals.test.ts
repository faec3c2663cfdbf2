import { describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { judgePages, judgeQueries } from './goals.js';

describe('the report of the console benchmark', () => {
  it(
    verifies('ops.performance.console', 'says what open pages cost the data plane, and the goal'),
    () => {
      expect(judgePages(10, 5)).toBe(
        'added by 10 pages: 5.0 % of one core, goal at most 5 %: reached',
      );
      expect(judgePages(10, 5.1)).toContain('missed');
      expect(judgePages(10, Number.NaN)).toContain('missed');
    },
  );

  it(verifies('ops.performance.console', 'names each query that takes 100 ms or longer'), () => {
    const rows = { Costs: { lmdb: 16.4, redis: 99.9 }, Keys: { lmdb: 100, redis: Number.NaN } };
    expect(judgeQueries(rows)).toBe(
      'goal less than 100 ms: missed by Keys on lmdb (100), Keys on redis (NaN)',
    );
    expect(judgeQueries({ Costs: rows.Costs })).toBe('goal less than 100 ms: reached');
  });
});
