import { execFileSync } from 'node:child_process';
import { ROOT } from './tree.ts';
import type { Finding } from './words.ts';

const SHOWN = 10;

/** Lines per file that the working tree adds to HEAD; empty without git. */
export function addedLines(): Map<string, Set<number>> {
  const added = new Map<string, Set<number>>();
  let lines = new Set<number>();
  for (const line of diff().split('\n')) {
    const file = /^\+\+\+ b\/(.*)/.exec(line)?.[1];
    if (file !== undefined) added.set(file, (lines = new Set()));
    const [, first, count = '1'] = /^@@ \S+ \+(\d+)(?:,(\d+))?/.exec(line) ?? [];
    if (first === undefined) continue;
    for (let at = 0; at < Number(count); at += 1) lines.add(Number(first) + at);
  }
  return added;
}

function diff(): string {
  try {
    return execFileSync('git', ['diff', '--unified=0', '--no-color', '--no-ext-diff', 'HEAD'], {
      cwd: ROOT,
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return '';
  }
}

/** The findings in added lines, or the first ten. */
export function newestFirst(
  findings: readonly Finding[],
  added: ReadonlyMap<string, ReadonlySet<number>>,
): Finding[] {
  const newest = findings.filter(({ file, line }) => added.get(file)?.has(line));
  return (newest.length > 0 ? newest : findings).slice(0, SHOWN);
}
