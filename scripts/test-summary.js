// Prints a time per suite and the closing count from vitest's JSON report.
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
const failed = report.numFailedTests + broken.length;
console.log(`${report.numPassedTests} passed, ${failed} failed`);
process.exitCode = failed > 0 || report.numPassedTests === 0 ? 1 : 0;
