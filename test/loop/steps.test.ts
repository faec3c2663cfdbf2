import { describe, expect, it } from 'vitest';
// @ts-expect-error -- runs before anything is installed, so it has no types
import { runSteps } from '../../scripts/ci/steps.js';
import { emptyDirectory } from '../support/each-file/empty-directory.ts';
import { verifies } from '../requirements.ts';

interface Ended {
  name: string;
  seconds: number;
  passed: boolean;
}

const script = (text: string): string[] => [process.execPath, '-e', text];

async function run(steps: object): Promise<{ ended: Ended[]; printed: string }> {
  let printed = '';
  const write = (text: string): void => void (printed += text);
  return { ended: (await runSteps(steps, { write })) as Ended[], printed };
}

describe('the steps of a run', () => {
  it(
    verifies(
      'loop.ci-budget',
      'loop.parallel-steps',
      'run beside each other and print their seconds and words in one piece',
    ),
    async () => {
      const directory = await emptyDirectory();
      // Each waits for the other: one after the other they would not end.
      const meet = (own: string, other: string): string[] =>
        script(`
        const { writeFileSync, existsSync } = require('fs');
        const at = (name) => ${JSON.stringify(directory)} + '/' + name;
        writeFileSync(at('${own}'), '');
        console.log('${own} begins');
        const wait = setInterval(() => {
          if (!existsSync(at('${other}'))) return;
          clearInterval(wait);
          console.log('${own} ends');
        }, 5);
      `);
      const { ended, printed } = await run({
        one: { run: meet('one', 'other') },
        other: { run: meet('other', 'one') },
      });
      expect(ended.map(({ passed }) => passed)).toEqual([true, true]);
      expect(printed).toMatch(/== one: \d+s\none begins\none ends\n/);
      expect(printed).toMatch(/== other: \d+s\nother begins\nother ends\n/);
    },
  );

  it('begin after those that they need', async () => {
    const { ended } = await run({
      last: { run: script(''), needs: ['first'] },
      first: { run: script('') },
    });
    expect(ended.map(({ name }) => name)).toEqual(['first', 'last']);
  });

  it(
    verifies('loop.parallel-steps', 'are left out where one that they need has failed'),
    async () => {
      const { ended, printed } = await run({
        first: { run: script('console.error("no"); process.exit(3)') },
        last: { run: script(''), needs: ['first'] },
        unknown: { run: ['no-such-program'] },
      });
      expect(Object.fromEntries(ended.map(({ name, passed }) => [name, passed]))).toEqual({
        first: false,
        unknown: false,
      });
      expect(printed).toMatch(/== first: \d+s FAILED\nno\n/);
      expect(printed).toContain('spawn no-such-program ENOENT');
    },
  );

  it('print nothing of stdout where they are quiet', async () => {
    const { printed } = await run({
      tree: { run: script('console.log("all"); console.error("missing")'), isQuiet: true },
    });
    expect(printed).toMatch(/^== tree: \d+s\nmissing\n$/);
  });
});
