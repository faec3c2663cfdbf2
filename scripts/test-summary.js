// Prints a time per suite, what failed and why, and the closing count from vitest's JSON report.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const suites = report.testResults.map(({ name, startTime, endTime }) => ({
  name: relative(process.cwd(), name),
  ms: Math.round(endTime - startTime),
}));
for (const { name, ms } of suites.sort((a, b) => b.ms - a.ms)) {
  console.log(`${String(ms).padStart(7)} ms  ${name}`);
}
const broken = report.testResults.filter(
  ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
);
const MAX_REASON = 2_000;
for (const { name, message } of broken)
  console.log(`FAILED ${name}\n${message.slice(0, MAX_REASON)}`);
for (const { name, assertionResults } of report.testResults) {
  for (const { status, fullName, failureMessages } of assertionResults) {
    const file = relative(process.cwd(), name);
    if (status === 'pending' || status === 'skipped') console.log(`SKIPPED ${file}: ${fullName}`);
    if (status !== 'failed') continue;
    console.log(`FAILED ${file}: ${fullName}\n${failureMessages.join('\n').slice(0, MAX_REASON)}`);
  }
}
const failed = report.numFailedTests + broken.length;
console.log(`${report.numPassedTests} passed, ${failed} failed`);
process.exitCode = failed > 0 || report.numPassedTests === 0 ? 1 : 0;
