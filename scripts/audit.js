// Asks the registry for known holes in what the package brings along. A serious one fails; a registry
// that answers no such question does not, but it is said so that nobody takes silence for a yes.
import { spawnSync } from 'node:child_process';

const argv = ['audit', '--omit=dev', '--json'];
const { stdout, error } = spawnSync('npm', argv, { encoding: 'utf8', timeout: 60_000 });
const report = parse(stdout);
const counts = report?.metadata?.vulnerabilities;

if (!counts) {
  console.log('NOT AUDITED: this registry does not tell of vulnerabilities');
  console.log(
    `  ${report?.error?.summary || report?.message?.split(' - ')[0] || error || 'no answer'}`,
  );
} else {
  for (const { name, severity, range } of Object.values(report.vulnerabilities))
    console.log(`${severity.padEnd(9)} ${name} ${range}`);
  console.log(`${counts.total} known vulnerabilities in what is published`);
  if (counts.high + counts.critical > 0) process.exitCode = 1;
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
