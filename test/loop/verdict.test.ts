import { describe, expect, it } from 'vitest';
import {
  countTests,
  doubtfulFiles,
  failureLines,
  judge,
  limitOf,
  timeLines,
} from '../../scripts/ci/verdict.ts';
import type { FileResult, ListedTest, Results, TestResult } from '../../scripts/ci/verdict.ts';
import { verifies } from '../requirements.ts';

const TODAY = '2026-11-28';

function test(name: string, state = 'passed', seconds = 0.1): TestResult {
  return { name, state, seconds, errors: state === 'failed' ? [`${name} is wrong`] : [] };
}

function file(path: string, tests: TestResult[], more: Partial<FileResult> = {}): FileResult {
  const passed = tests.every(({ state }) => state !== 'failed');
  return { file: path, passed, seconds: 1, tests, errors: [], ...more };
}

function results(...files: FileResult[]): Results {
  return { files, errors: [] };
}

function verdictOn(first: Results, again: Results[], listed: ListedTest[] = []) {
  const byFile = new Map(again.map((one) => [one.files[0]?.file ?? '', one]));
  return judge({ first, again: byFile, listed, limit: limitOf(first), today: TODAY });
}

const broken = (path: string): FileResult => file(path, [test('keeps', 'failed'), test('reads')]);
const whole = (path: string): Results => results(file(path, [test('keeps'), test('reads')]));

describe('a file that failed', () => {
  it(
    verifies('loop.flaky-named', 'is flaky, named and listed with its date where it passes alone'),
    () => {
      const first = results(broken('test/a.test.ts'), file('test/b.test.ts', [test('b')]));
      expect(doubtfulFiles(first, 10)).toEqual(['test/a.test.ts']);
      const { flaky, faults, list } = verdictOn(first, [whole('test/a.test.ts')]);
      expect(flaky).toEqual([{ file: 'test/a.test.ts', test: 'keeps', isFirst: false }]);
      expect(faults).toEqual([]);
      expect(list).toEqual([{ file: 'test/a.test.ts', test: 'keeps', seen: TODAY }]);
    },
  );

  it(
    verifies('loop.flaky-named', 'fails the run where it fails twice, or could not run again'),
    () => {
      const first = results(broken('test/a.test.ts'), broken('test/c.test.ts'));
      const { flaky, faults, list } = verdictOn(first, [results(broken('test/a.test.ts'))]);
      expect(flaky).toEqual([]);
      expect(list).toEqual([]);
      expect(faults).toEqual(['test/a.test.ts failed twice', 'test/c.test.ts failed twice']);
    },
  );

  it(
    verifies('loop.flaky-named', 'fails the run where it was listed before and is not mended'),
    () => {
      const first = results(broken('test/a.test.ts'));
      const seen = { file: 'test/a.test.ts', test: 'another', seen: '2026-11-01' };
      const again = [whole('test/a.test.ts')];
      expect(verdictOn(first, again, [seen]).faults).toHaveLength(1);
      const mended = verdictOn(first, again, [{ ...seen, mended: '2026-11-02' }]);
      expect(mended.faults).toEqual([]);
      expect(mended.list).toHaveLength(2);
    },
  );

  it(verifies('loop.flaky-named', 'fails the run where more than two files are flaky'), () => {
    const paths = ['test/a.test.ts', 'test/b.test.ts', 'test/c.test.ts'];
    const faultsOf = (some: string[]) =>
      verdictOn(results(...some.map(broken)), some.map(whole)).faults;
    expect(faultsOf(paths.slice(1))).toEqual([]);
    expect(faultsOf(paths)).toEqual(['3 files are flaky in one run']);
  });

  it('comes first where it is about money, the store or security', () => {
    const paths = ['test/console/a.test.ts', 'test/store/b.test.ts'];
    const { flaky } = verdictOn(results(...paths.map(broken)), paths.map(whole));
    expect(flaky.map(({ file: path, isFirst }) => [path, isFirst])).toEqual([
      ['test/store/b.test.ts', true],
      ['test/console/a.test.ts', false],
    ]);
  });

  it('is one that broke outside of its tests, or ended in the middle, too', () => {
    const errors = [{ file: 'test/u.test.ts', reason: 'rejected' }, { reason: 'no worker' }];
    const lost = file('test/l.test.ts', [], { passed: false });
    const first = { files: [lost], errors };
    expect(doubtfulFiles(first, 10)).toEqual(['test/l.test.ts', 'test/u.test.ts', 'unknown file']);
    expect(failureLines(first)).toContain('FAILED test/l.test.ts: it did not end');
    const { flaky, faults } = verdictOn(first, [whole('test/l.test.ts'), whole('test/u.test.ts')]);
    expect(flaky.map((row) => row.test)).toEqual(['the file', 'the file']);
    expect(faults).toEqual(['unknown file failed twice']);
  });
});

describe('a quick test above its share of the time', () => {
  const slow = (seconds: number, path = 'test/s.test.ts') =>
    results(file(path, [test('waits', 'passed', seconds)]));

  it(
    verifies('loop.ci-budget', 'runs again alone and fails only if it is above it there, too'),
    () => {
      const first = slow(30);
      expect(limitOf(first)).toBe(10);
      expect(doubtfulFiles(first, 10)).toEqual(['test/s.test.ts']);
      expect(verdictOn(first, [slow(3)]).faults).toEqual([]);
      expect(verdictOn(first, [slow(12)]).faults[0]).toMatch(/waits took 30.0 s .* 10.0 s too/);
    },
  );

  it('has a share of two in a hundred of all quick tests', () => {
    const many = Array.from({ length: 1_000 }, (_, index) => test(`t${index}`, 'passed', 1));
    expect(limitOf(results(file('test/m.test.ts', many)))).toBe(20);
  });

  it('is none where it is deep', () => {
    expect(doubtfulFiles(slow(30, 'test/s.deep.test.ts'), 10)).toEqual([]);
  });
});

describe('the end of a run', () => {
  it('counts the last try of each file', () => {
    const first = results(broken('test/a.test.ts'), file('test/b.test.ts', [test('b')]));
    expect(countTests(first, new Map())).toEqual({ passed: 2, failed: 1 });
    const again = new Map([['test/a.test.ts', whole('test/a.test.ts')]]);
    expect(countTests(first, again)).toEqual({ passed: 3, failed: 0 });
  });

  it('counts files without results as failed', () => {
    const lost = file('test/l.test.ts', [test('a', 'skipped')], { passed: false });
    const none = { files: [lost], errors: [{ reason: 'no worker' }] };
    expect(countTests(none, new Map())).toEqual({ passed: 0, failed: 2 });
  });

  it(verifies('loop.ci-budget', 'names the slowest tests and the seconds of each folder'), () => {
    const lines = timeLines(
      results(
        file('test/e2e/keys/a.test.ts', [test('quick'), test('slow', 'passed', 3)], { seconds: 4 }),
        file('test/e2e/keys/b.test.ts', [test('b')], { seconds: 2 }),
        file('test/core/c.test.ts', [test('c')]),
      ),
      1,
    );
    expect(lines.map((line) => line.trim())).toEqual([
      '== the 1 slowest tests',
      '3.0 s  test/e2e/keys/a.test.ts > slow',
      '== seconds of each folder',
      '6.0 s  test/e2e/keys',
      '1.0 s  test/core',
    ]);
  });
});
