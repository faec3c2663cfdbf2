import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifies } from '../requirements.ts';
import { markedBlocks, toPattern } from './code-blocks.ts';
import { followPage } from './follow-page.ts';
import { ROOT } from './reader.ts';

const MOST_WORDS = 1200;

const { text: page, reader } = await followPage('README.md');

describe('README.md', () => {
  it(verifies('console-free-bootstrap', 'shows what a first start prints'), () => {
    const [block] = markedBlocks(page).filter(({ mark }) => mark === 'start');
    const { gateway, here } = reader();
    expect(gateway.log()).toMatch(toPattern(here(block?.code ?? 'nothing is shown')));
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
