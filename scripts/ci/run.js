// What `.ci/run` runs: the steps that wait for the network or keep one core busy beside each other, then the
// tests, with types, lint and the conversations of the coding tools in the time that they wait. What fails
// before the tests ends the run, what fails during them fails it at its end. Prints the seconds of every
// step, and ends with the line `N passed, N failed` of the tests.
import { runSteps } from './steps.js';

const npm = (script) => ['npm', 'run', '--silent', script];
/** Of the linter, a program in Go: garbage collection is a fifth of its time. */
const UNCOLLECTED = { GOGC: 'off', GOMEMLIMIT: '4GiB' };
const node = (...argv) => ['node', ...argv];
const npx = (...argv) => ['npx', '--no-install', ...argv];
/** Reports what the compiler does, too: the rules have every file and its types loaded already. */
const LINT = ['oxlint', '--type-aware', '--type-check', '--deny-warnings'];

const STEPS = {
  servers: { run: ['bash', '.ci/servers'] },
  install: { run: ['npm', 'ci', '--no-audit', '--no-fund'] },
  // What is installed is what the lock asks for.
  tree: { run: ['npm', 'ls', '--all'], needs: ['install'], isQuiet: true },
  audit: { run: node('scripts/audit.js'), needs: ['install'] },
  build: { run: npm('build'), needs: ['install'] },
  package: { run: npx('publint', '--strict'), needs: ['build'] },
  requirements: { run: npm('requirements'), needs: ['install'] },
};

/** Run during the tests, which wait for a tenth of their time, at a lower priority. */
const JUDGES = {
  // In advance: a test fetches a missing release itself.
  node: { run: ['nice', ...node('scripts/fetch-node.js')] },
  'types and lint': { run: ['nice', ...npx(...LINT)], env: UNCOLLECTED },
  format: { run: npx('oxfmt', '--check') },
  'unused code': { run: ['nice', ...npx('knip')] },
};
const CLIENTS = { clients: { run: ['nice', ...npm('test:clients')] } };

const begun = performance.now();
const times = [];
const ended = new AbortController();

/** Over a gigabyte where nothing is kept: begins before all else, and only the coding tools wait for it. */
const download = runSteps(
  { download: { run: node('scripts/test-clients.js', '--install') } },
  { signal: ended.signal },
);

times.push(...(await runSteps(STEPS)));
if (times.length < Object.keys(STEPS).length || !times.every(({ passed }) => passed)) {
  printTimes(times);
  ended.abort();
  await download;
  process.exit(1);
}

// The judge is TypeScript, and its loader was installed just now.
const { register } = await import('tsx/esm/api');
register();
const { runTests } = await import('./run-tests.ts');

const start = performance.now();
const judging = judge();
const { isGood, lines } = await runTests();
const tests = { name: 'tests', seconds: secondsSince(start), passed: isGood };
times.push(...(await judging), tests);
printTimes(times, ...(await download));
for (const line of lines) console.log(line);
process.exitCode = times.every(({ passed }) => passed) ? 0 : 1;

/** Types and lint, then the coding tools, which a fault of those would only delay. */
async function judge() {
  const judged = await runSteps(JUDGES);
  if (!judged.every(({ passed }) => passed)) return judged;
  await download;
  return [...judged, ...(await runSteps(CLIENTS))];
}

function printTimes(steps, apart) {
  for (const { name, seconds, passed } of steps)
    printTime(seconds, passed ? name : `${name} FAILED`);
  if (apart) printTime(apart.seconds, 'download of the coding tools, beside the others');
  printTime(secondsSince(begun), 'in all');
}

function printTime(seconds, text) {
  console.log(`${String(seconds).padStart(5)}s  ${text}`);
}

function secondsSince(moment) {
  return Math.round((performance.now() - moment) / 1_000);
}
