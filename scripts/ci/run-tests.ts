// Runs the tests and judges them. A file that failed, and one with a quick test far above its share of the
// time, runs once more, alone. What passes then is flaky: it is written to test/flaky.json with its date
// and fails the run only if it is on that list already, or with too many others.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
// @ts-expect-error -- runs before anything is installed, so it has no types
import { runCommand } from './steps.js';
import * as verdict from './verdict.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const LIST = join(ROOT, 'test/flaky.json');
/** Files that run once more at the most: with more of them the change is broken, not a test. */
const MAX_AGAIN = 12;

/** Resolves with the lines that a run ends with, and whether it passed. */
export async function runTests(): Promise<{ isGood: boolean; lines: string[] }> {
  const first = await run([], 'tests.json');
  const limit = verdict.limitOf(first);
  const again = new Map<string, verdict.Results>();
  for (const [index, file] of verdict.doubtfulFiles(first, limit).slice(0, MAX_AGAIN).entries()) {
    console.log(`== once more, alone: ${file}`);
    again.set(file, await run([file], `again-${index}.json`));
  }

  const listed = JSON.parse(readFileSync(LIST, 'utf8')) as verdict.ListedTest[];
  const today = new Date().toISOString().slice(0, 10);
  const { flaky, faults, list } = verdict.judge({ first, again, listed, limit, today });
  if (list.length > listed.length) writeFileSync(LIST, `${JSON.stringify(list, undefined, 2)}\n`);
  for (const line of [...verdict.failureLines(first), ...verdict.timeLines(first)])
    console.log(line);

  const { passed, failed } = verdict.countTests(first, again);
  return {
    isGood: faults.length === 0 && failed === 0 && passed > 0,
    lines: [
      ...flaky.map(
        ({ file, test, isFirst }) =>
          `flaky: ${file} > ${test}${isFirst ? ' (mend it before anything else)' : ''}`,
      ),
      ...(flaky.length > 0 ? [`${flaky.length} flaky, listed in test/flaky.json`] : []),
      ...faults.map((fault) => `fault: ${fault}`),
      `${passed} passed, ${failed} failed`,
    ],
  };
}

/** What the reporter wrote of a run of the named files, of all without names. */
async function run(files: readonly string[], results: string): Promise<verdict.Results> {
  const path = join(ROOT, 'coverage', results);
  rmSync(path, { force: true });
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const reporters = ['--reporter=dot', '--reporter=./scripts/ci/reporter.js'];
  const { passed } = await runCommand({
    run: [process.execPath, vitest, 'run', ...reporters, ...files],
    isLive: true,
    env: { TEST_RESULTS: path },
  });
  if (!existsSync(path)) return { files: [], errors: [{ reason: 'vitest ended without results' }] };
  const written = JSON.parse(readFileSync(path, 'utf8')) as verdict.Results;
  const isExplained = written.errors.length > 0 || written.files.some((one) => !one.passed);
  if (passed || isExplained) return written;
  return { ...written, errors: [{ reason: 'vitest failed outside of the tests' }] };
}
