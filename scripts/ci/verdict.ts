// What the results of a run mean: pure functions of what the reporter wrote.

export interface TestResult {
  readonly name: string;
  readonly state: string;
  readonly seconds: number;
  readonly errors: readonly string[];
}

export interface FileResult {
  /** From the root of the repository. */
  readonly file: string;
  readonly passed: boolean;
  /** Loading included. */
  readonly seconds: number;
  readonly tests: readonly TestResult[];
  /** Of the file outside of its tests. */
  readonly errors: readonly string[];
}

export interface Results {
  readonly files: readonly FileResult[];
  /** Unhandled ones, of the file that ran. */
  readonly errors: readonly { readonly file?: string; readonly reason: string }[];
}

/** A row of test/flaky.json; `seen` and `mended` are dates. */
export interface ListedTest {
  readonly file: string;
  readonly test: string;
  readonly seen: string;
  readonly mended?: string;
}

export interface Run {
  readonly first: Results;
  /** The second try, by file. */
  readonly again: ReadonlyMap<string, Results>;
  /** The list of flaky tests before the run. */
  readonly listed: readonly ListedTest[];
  /** Seconds that a quick test may take. */
  readonly limit: number;
  /** Date. */
  readonly today: string;
}

export interface Verdict {
  readonly flaky: readonly {
    readonly file: string;
    readonly test: string;
    readonly isFirst: boolean;
  }[];
  /** What fails the run, in words. */
  readonly faults: readonly string[];
  /** The list of flaky tests with what is new. */
  readonly list: readonly ListedTest[];
}

type TestOfFile = TestResult & { readonly file: string };

/** Share of the seconds of all quick tests that one of them may take, and the seconds it always may. */
const MAX_SHARE = 0.02;
const ALWAYS_SECONDS = 10;
/** With more flaky files in one run, the machine or the change is at fault. */
const MAX_FLAKY = 2;
const UNKNOWN = 'unknown file';
const NONE: Results = { files: [], errors: [] };
/** Places whose flaky tests are mended before anything else: money, the store, security. */
const FIRST = /^test\/(?:usage|store|security|e2e\/(?:keys|durability|memory))\//;

/** Seconds that a quick test may take in this run. */
export function limitOf({ files }: Results): number {
  const seconds = quickTests(files).reduce((sum, test) => sum + test.seconds, 0);
  return Math.max(ALWAYS_SECONDS, MAX_SHARE * seconds);
}

/** Files that have to run once more: those that failed, and those with a quick test above its limit. */
export function doubtfulFiles(results: Results, limit: number): string[] {
  return [
    ...new Set([...failedFiles(results), ...slowTests(results, limit).map(({ file }) => file)]),
  ];
}

/** The flaky tests of a run, those to mend first at the head, and what fails it. */
export function judge({ first, again, listed, limit, today }: Run): Verdict {
  const failed = failedFiles(first);
  const twice = failed.filter((file) => !isClean(again.get(file)));
  const flaky = failed.filter((file) => !twice.includes(file));
  const isListed = (file: string): boolean =>
    listed.some((row) => row.file === file && !row.mended);
  const slow = slowTests(first, limit).filter(({ file, name }) =>
    slowTests(again.get(file) ?? NONE, limit).some((test) => test.name === name),
  );
  const rows = flaky.flatMap((file) =>
    failedNames(first, file).map((test) => ({ file, test, isFirst: FIRST.test(file) })),
  );
  return {
    flaky: rows.toSorted((one, other) => Number(other.isFirst) - Number(one.isFirst)),
    list: [
      ...listed,
      ...rows
        .filter(({ file }) => !isListed(file))
        .map(({ file, test }) => ({ file, test, seen: today })),
    ],
    faults: [
      ...twice.map((file) => `${file} failed twice`),
      ...flaky.filter(isListed).map((file) => `${file} was on the list of flaky tests before`),
      ...(flaky.length > MAX_FLAKY ? [`${flaky.length} files are flaky in one run`] : []),
      ...slow.map(
        ({ file, name, seconds }) =>
          `${file} > ${name} took ${seconds.toFixed(1)} s and, alone, more than ${limit.toFixed(1)} s too`,
      ),
    ],
  };
}

/** Numbers of tests that passed and failed, by the last try of each file. */
export function countTests(
  { files, errors }: Results,
  again: Run['again'],
): { passed: number; failed: number } {
  const last = files.map((file) => again.get(file.file)?.files[0] ?? file);
  const count = (state: string): number =>
    testsOf(last).filter((test) => test.state === state).length;
  const lost = last.filter(({ passed, tests }) => !passed && !tests.some(hasFailed));
  const unhandled = errors.filter(({ file = UNKNOWN }) => !isClean(again.get(file)));
  return { passed: count('passed'), failed: count('failed') + lost.length + unhandled.length };
}

/** Lines of what failed, with reasons, and of what was skipped. */
export function failureLines({ files, errors }: Results): string[] {
  const lines = errors.map(({ file = UNKNOWN, reason }) => `FAILED ${file}\n${reason}`);
  for (const { file, tests, errors: ofFile, passed } of files) {
    const failed = tests.filter(hasFailed);
    for (const reason of ofFile) lines.push(`FAILED ${file}\n${reason}`);
    if (!passed && failed.length + ofFile.length === 0)
      lines.push(`FAILED ${file}: it did not end`);
    for (const { name, errors: reasons } of failed)
      lines.push(`FAILED ${file}: ${name}\n${reasons.join('\n')}`);
    for (const { name, state } of tests)
      if (state === 'skipped') lines.push(`SKIPPED ${file}: ${name}`);
  }
  return lines;
}

/** Lines of the slowest tests and of the seconds of each folder. */
export function timeLines({ files }: Results, count = 20): string[] {
  const slowest = testsOf(files).toSorted(bySeconds).slice(0, count);
  const folders = new Map<string, number>();
  for (const { file, seconds } of files) {
    const folder = file
      .split('/')
      .slice(0, file.startsWith('test/e2e/') ? 3 : 2)
      .join('/');
    folders.set(folder, (folders.get(folder) ?? 0) + seconds);
  }
  const rows = [...folders].map(([folder, seconds]) => ({ folder, seconds })).sort(bySeconds);
  return [
    `== the ${slowest.length} slowest tests`,
    ...slowest.map(({ file, name, seconds }) => `${secondsOf(seconds)}  ${file} > ${name}`),
    '== seconds of each folder',
    ...rows.map(({ folder, seconds }) => `${secondsOf(seconds)}  ${folder}`),
  ];
}

function failedFiles({ files, errors }: Results): string[] {
  const failed = files.filter(({ passed }) => !passed).map(({ file }) => file);
  return [...new Set([...failed, ...errors.map(({ file = UNKNOWN }) => file)])].sort();
}

/** Names of the tests of a file that failed; a name for the whole file where no test did. */
function failedNames({ files }: Results, file: string): string[] {
  const failed = testsOf(files.filter((one) => one.file === file)).filter(hasFailed);
  return failed.length > 0 ? failed.map(({ name }) => name) : ['the file'];
}

function isClean(results: Results | undefined): boolean {
  return (
    results !== undefined &&
    results.errors.length === 0 &&
    results.files.length > 0 &&
    results.files.every(({ passed }) => passed)
  );
}

function slowTests({ files }: Results, limit: number): TestOfFile[] {
  return quickTests(files).filter(({ state, seconds }) => state === 'passed' && seconds > limit);
}

function quickTests(files: Results['files']): TestOfFile[] {
  return testsOf(files.filter(({ file }) => !file.endsWith('.deep.test.ts')));
}

function testsOf(files: Results['files']): TestOfFile[] {
  return files.flatMap(({ file, tests }) => tests.map((test) => ({ ...test, file })));
}

function hasFailed({ state }: TestResult): boolean {
  return state === 'failed';
}

function bySeconds(one: { seconds: number }, other: { seconds: number }): number {
  return other.seconds - one.seconds;
}

function secondsOf(seconds: number): string {
  return `${seconds.toFixed(1).padStart(8)} s`;
}
