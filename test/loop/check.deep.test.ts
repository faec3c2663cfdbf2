import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { emptyDirectory } from '../support/each-file/empty-directory.ts';
import { verifies } from '../requirements.ts';
import { IS_ALL, numberOfCommit } from '../runs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const ROOMS = 3;

/** A source file of each of some rooms, with its first exported function of more than one line. */
function chosenSources(seed: number): { path: string; at: number }[] {
  const rooms = readdirSync(join(ROOT, 'src'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'console')
    .map(({ name }) => name)
    .sort();
  return Array.from({ length: ROOMS }, (_, index) => {
    const room = rooms[(seed + index * 7) % rooms.length] as string;
    const found = readdirSync(join(ROOT, 'src', room), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .sort()
      .map((name) => join('src', room, name))
      .map((path) => ({ path, at: bodyIn(readFileSync(join(ROOT, path), 'utf8')) }))
      .filter(({ at }) => at > 0);
    return found[seed % found.length] as { path: string; at: number };
  });
}

/** Where the body of the first exported function begins, 0 without one. */
function bodyIn(text: string): number {
  const head = /^export (?:async )?function \w+[^;]*?\{\n(?= {2}\S)/m.exec(text);
  return head ? head.index + head[0].length : 0;
}

/** Each takes up to 90 s of the whole machine: `npm run test:all` has that time. */
describe.skipIf(!IS_ALL)('npm run check', () => {
  let copy = '';

  beforeAll(async () => {
    copy = await emptyDirectory();
    const left = new Set(['.git', 'node_modules', 'coverage']);
    for (const name of readdirSync(ROOT))
      if (!left.has(name)) cpSync(join(ROOT, name), join(copy, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
    const git = (...argv: string[]) => execFileSync('git', argv, { cwd: copy });
    git('init', '-q');
    git('add', '-A');
    const author = ['-c', 'user.name=test', '-c', 'user.email=test@localhost'];
    git(...author, 'commit', '-q', '-m', 'test: copy the source');
  });

  it.each(chosenSources(numberOfCommit()))(
    verifies('loop.check', 'finds a fault in $path'),
    ({ path, at }) => {
      const file = join(copy, path);
      const text = readFileSync(file, 'utf8');
      // Neither compiler nor lint see it: only a test that runs the function does.
      const fault = `  if (Date.now() > 0) throw new Error('a fault');\n`;
      writeFileSync(file, text.slice(0, at) + fault + text.slice(at));
      const { status, stdout } = spawnSync('node', ['scripts/check.js'], {
        cwd: copy,
        encoding: 'utf8',
      });
      writeFileSync(file, text);
      expect(stdout).toContain('1 changed files, 1 of them code');
      expect(stdout).toMatch(/tests failed, \d+s\n$/);
      expect(status).toBe(1);
    },
  );
});
