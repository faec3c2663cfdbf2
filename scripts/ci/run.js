// What `.ci/run` runs: the steps that wait for the network or keep one core busy beside each other, then
// the tests, with types and lint in the time that they wait, then the conversations of the coding tools.
// What fails before the tests ends the run, what fails during them fails it at its end. Prints the seconds of
// every step, and ends with the line `N passed, N failed` of the tests.
import { runSteps } from './steps.js';

const npm = (script) => ['npm', 'run', '--silent', script];
/** Of the type checker and the linter, programs in Go: garbage collection is a fifth of their time. */
const UNCOLLECTED = { GOGC: 'off', GOMEMLIMIT: '4GiB' };
const node = (...argv) => ['node', ...argv];

const STEPS = {
  servers: { run: ['bash', '.ci/servers'] },
  install: { run: ['npm', 'ci', '--no-audit', '--no-fund'] },
  // What is installed is what the lock asks for.
  tree: { run: ['npm', 'ls', '--all'], needs: ['install'], isQuiet: true },
  audit: { run: node('scripts/audit.js'), needs: ['install'] },
  node: { run: node('scripts/fetch-node.js'), needs: ['install'] },
  build: { run: npm('build'), needs: ['install'] },
  package: { run: ['npx', '--no-install', 'publint', '--strict'], needs: ['build'] },
  requirements: { run: npm('requirements'), needs: ['install'] },
};

/** Run during the tests, which wait for a tenth of their time, at a lower priority. */
const JUDGES = {
  types: { run: ['nice', ...npm('typecheck')], env: UNCOLLECTED },
  lint: { run: ['nice', ...npm('lint')], env: UNCOLLECTED },
};

const begun = performance.now();
const times = [];
const ended = new AbortController();

/** Over a gigabyte where nothing is kept: begins before all else, and only the last step waits for it. */
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
const judging = runSteps(JUDGES);
const { isGood, lines } = await runTests();
times.push(...(await judging), { name: 'tests', seconds: secondsSince(start), passed: isGood });
const [downloaded] = await download;
times.push(...(await runSteps({ clients: { run: npm('test:clients'), isLive: true } })));
printTimes(times, downloaded);
for (const line of lines) console.log(line);
process.exitCode = times.every(({ passed }) => passed) ? 0 : 1;

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
