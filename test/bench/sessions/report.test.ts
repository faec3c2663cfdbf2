import { describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { FIGURES, reportGoals } from './report.js';

const MEASURED = {
  [FIGURES.cpu]: 950,
  [FIGURES.answer]: 4.01,
  [FIGURES.rate]: 600,
  [FIGURES.one]: 9,
  [FIGURES.many]: 10,
  [FIGURES.begun]: 10.5,
};

describe('the report of the Sessions benchmark', () => {
  it(verifies('ops.performance.sessions', 'names each figure beside its goal'), () => {
    expect(reportGoals(MEASURED)).toEqual({
      'CPU of ours per turn, ms': { measured: 0.95, goal: 'at most 1', verdict: 'reached' },
      'answer p50 at one Session, ms': { measured: 4.01, goal: 'at most 4', verdict: 'missed' },
      'turns/s on two shared cores': { measured: 600, goal: 'at least 600', verdict: 'reached' },
      'append to visible p99, 1,000 Sessions of one tail, ms': {
        measured: 9,
        goal: 'at most 10',
        verdict: 'reached',
      },
      'append to visible p99, one Session of 100 tails, ms': {
        measured: 10,
        goal: 'at most 10',
        verdict: 'reached',
      },
      '10,000 Schedules due in one minute, all begun, s': {
        measured: 10.5,
        goal: 'at most 10',
        verdict: 'missed',
      },
    });
  });

  it('says what was not measured, and takes nothing else for a figure', () => {
    const verdicts = Object.values(reportGoals({ [FIGURES.rate]: 599 })).map((row) => row.verdict);
    expect(verdicts.filter((verdict) => verdict === 'missed')).toHaveLength(1);
    expect(verdicts.filter((verdict) => verdict === 'not measured')).toHaveLength(5);
    expect(() => reportGoals({ [FIGURES.rate]: Number.NaN })).toThrow('could not be measured');
  });
});
