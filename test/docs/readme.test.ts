import { execFileSync } from 'node:child_process';
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startHere } from '../e2e/process/start-here.ts';
import { verifies } from '../requirements.ts';
import { directoryOfTest } from '../support/process/directory-of-test.ts';
import { markedBlocks, toPattern } from './code-blocks.ts';
import { followPage } from './follow-page.ts';
import { ROOT } from './reader.ts';

const MOST_WORDS = 1200;

const { text: page } = await followPage('README.md');

describe('README.md', () => {
  it(verifies('console-free-bootstrap', 'shows what a first start prints'), async () => {
    const [block] = markedBlocks(page).filter(({ mark }) => mark === 'start');
    const cwd = await directoryOfTest();
    await copyFile(join(ROOT, 'gateway.yaml.example'), join(cwd, 'gateway.yaml.example'));
    const argv = ['start', '--config', 'gateway.yaml.example', '--port', '0'];
    const { url, log } = await startHere(argv, { cwd });
    const shown = (block?.code ?? 'nothing is shown').replaceAll('http://127.0.0.1:8787', url);
    expect(log()).toMatch(toPattern(shown));
  });

  it('is read in five minutes', () => {
    expect(page.split(/\s+/).length).toBeLessThanOrEqual(MOST_WORDS);
  });

  it('links only to what is there', async () => {
    for (const [, target = ''] of page.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)) {
      await expect(readFile(join(ROOT, target)), target).resolves.toBeDefined();
    }
    for (const [, target = ''] of page.matchAll(/`((?:src|test|templates)\/[\w./-]+)`/g)) {
      expect(() => execFileSync('ls', [join(ROOT, target)]), target).not.toThrow();
    }
  });
});
