import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { ROOT } from './tree.ts';

const FORM = /^(?:[a-z0-9][a-z0-9 ,./_-]*(?:\([a-z0-9 ,./_-]+\))?: \S.*[^.\s]|Revert ".*)$/;
const LONGEST = 72;

function git(...args: string[]): string {
  return execFileSync('git', args, {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

/** Subjects since the commit that added this file; undefined without git, and before that commit. */
function subjects(): string[] | undefined {
  try {
    const added = git('log', '--diff-filter=A', '--format=%H', '--', 'test/house/commits.test.ts');
    const [first] = added.split('\n').reverse();
    if (!first) return undefined;
    return git('log', '--no-merges', '--format=%s', `${first}..HEAD`).split('\n').filter(Boolean);
  } catch {
    return undefined;
  }
}

const made = subjects();

it.skipIf(made === undefined)('the subject of a commit names its area and what changes', () => {
  const wrong = made?.filter((subject) => !FORM.test(subject) || subject.length > LONGEST);
  expect(wrong).toEqual([]);
});
