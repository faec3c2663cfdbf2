// Checks what changed within 90 seconds: types, lint and format, and the tests near it, nearest first.
//
//   npm run check -- [--base REV]
//
// What changed is what the working tree has over REV (HEAD without it), and with a clean working tree the
// last commit. Tests that do not fit into the time are counted: `npm test` runs them.
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runSteps } from './ci/steps.js';

/** Time from the start after which no further test begins. */
const TESTS_MS = 65_000;

const { values } = parseArgs({ options: { base: { type: 'string' } } });
const begun = Date.now();
const changed = values.base ? changedSince(values.base) : lastChange();
const code = changed.filter((path) => /\.(?:[cm]?[jt]s|tsx)$/.test(path));
const tested = changed.filter((path) => /^(?:src|test)\/.*\.tsx?$/.test(path));
console.log(`${changed.length} changed files, ${code.length} of them code`);

const node = (...argv) => ['node', ...argv];
const bin = (name, ...argv) => node(`node_modules/.bin/${name}`, ...argv);
const steps = {
  format: { run: bin('oxfmt', '--check', '--no-error-on-unmatched-pattern', ...changed) },
  types: { run: bin('tsc') },
  build: { run: node('scripts/build.js', '--if-stale') },
};
if (code.length > 0)
  steps.lint = { run: bin('oxlint', '--type-aware', '--deny-warnings', ...code) };
if (code.some((path) => path.startsWith('src/console/')))
  steps['types of the console'] = { run: bin('tsc', '-p', 'src/console') };
steps.tests = {
  run: bin('vitest', 'run', '--config', 'test/loop/vitest.config.ts'),
  needs: ['build'],
  isLive: true,
  env: { CHECK_FILES: JSON.stringify(tested), CHECK_UNTIL: String(begun + TESTS_MS) },
};

const ended = changed.length > 0 ? await runSteps(steps) : [];
const failed = ended.filter(({ passed }) => !passed).map(({ name }) => name);
const seconds = Math.round((Date.now() - begun) / 1_000);
console.log(failed.length > 0 ? `${failed.join(', ')} failed, ${seconds}s` : `good, ${seconds}s`);
process.exitCode = failed.length > 0 ? 1 : 0;

function lastChange() {
  const ofTree = changedSince('HEAD');
  return ofTree.length > 0 ? ofTree : changedSince('HEAD~1');
}

function changedSince(rev) {
  const known = git('diff', '--name-only', '--diff-filter=d', rev);
  const added = git('ls-files', '--others', '--exclude-standard');
  return [...new Set([...known, ...added])].filter((path) => existsSync(path));
}

function git(...argv) {
  return execFileSync('git', argv, { encoding: 'utf8' }).split('\n').filter(Boolean);
}
