import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { testsNear } from '../mutants/tests-near.ts';
import { verifies } from '../requirements.ts';
import { inTurn } from '../runs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

const FOLDERS = ['src/routing', 'src/usage/spend', 'src/protocols/chat'];

it.each(inTurn('tests near a change', FOLDERS))(
  verifies('loop.check', 'the tests near a change of %s begin with those of its folder'),
  (folder) => {
    const source = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .sort()
      .map((name) => join(folder, name))
      .find((path) => testsNear(ROOT, path).length > 0);
    const near = testsNear(ROOT, source as string);
    expect(near[0]).toMatch(new RegExp(`^test/${folder.split('/').slice(1, 2).join('/')}`));
    // A second change puts its own nearest tests before the second nearest of the first.
    const other = testsNear(ROOT, source as string, 'src/store/store.ts');
    expect(other.slice(0, 2)).toContain(near[0]);
  },
);
