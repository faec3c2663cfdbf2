import { expect, it } from 'vitest';
import { judgeWorkers } from './goal.js';

it('the benchmark of workers tells its figure and its goal', () => {
  expect(judgeWorkers(1.1)).toBe(
    'CPU per request, two workers to one: 1.10, goal at most 1.1: reached',
  );
  expect(judgeWorkers(1.101)).toContain('missed');
  expect(judgeWorkers(Number.NaN)).toContain('missed');
});
