import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { RESOURCES } from '../../src/resources/registry.ts';
import { SURFACES } from '../../src/server/routes/public-routes.ts';
import { verifies } from '../requirements.ts';
import { ask } from '../support/gateway.ts';
import { markedBlocks, toPattern } from './code-blocks.ts';
import { canFollow, openReader, type Reader, ROOT } from './reader.ts';

const page = await readFile(join(ROOT, 'README.md'), 'utf8');
const blocks = markedBlocks(page);

let reader: Reader;
beforeAll(async () => {
  reader = await openReader();
});
afterAll(() => reader.close());

describe('README.md', () => {
  it(verifies('console-free-bootstrap', 'shows what a first start prints'), () => {
    const [block] = blocks.filter(({ mark }) => mark === 'start');
    expect(reader.gateway.log()).toMatch(toPattern(reader.here(block?.code ?? 'nothing is shown')));
  });

  // One after the other: what a block makes, a later one may use, as for a reader.
  for (const block of blocks.filter(({ mark }) => mark !== 'start')) {
    it.skipIf(!canFollow(block))(
      `line ${block.line}: the ${block.language} block does what it says`,
      () => reader.check(block),
    );
  }

  it(verifies('cli.exit.table', 'has the table of exit codes'), () => {
    const [, table = ''] = /<!-- exit codes -->([\s\S]*)<!-- \/exit codes -->/.exec(page) ?? [];
    const rows = [...table.matchAll(/^\| (\d+) +\| (.*?) +\|$/gm)];
    expect(rows.map(([, code, meaning]) => ({ code: Number(code), meaning }))).toEqual(
      Object.values(EXIT),
    );
  });

  it('says truly what is served and what is not', async () => {
    const [, table = ''] = /^### Status\n([\s\S]*?)\n\n[^|\n]/m.exec(page) ?? [];
    const rows = table
      .split('\n')
      .filter((line) => /^\| [^-]/.test(line))
      .slice(1);
    const paths = (column: number) =>
      rows.flatMap((row) =>
        [...(row.split('|')[column] ?? '').matchAll(/`([^`]+)`/g)].map(([, path = '']) => path),
      );
    const isServed = async (path: string) => {
      const { gateway } = reader;
      const { body } = await ask(gateway.url + path, {
        key: gateway.adminKey,
      });
      return !JSON.stringify(body).includes('no such path; ');
    };
    const served = paths(1);
    expect(served).toEqual(
      expect.arrayContaining(
        SURFACES.map(({ paths: [path = ''] }) => path.replace('/**', '/{model}:generateContent')),
      ),
    );
    expect(served).toEqual(
      expect.arrayContaining(
        RESOURCES.flatMap(({ path, api }) => (api ? [path, api.path] : [path])),
      ),
    );
    for (const path of served) expect(await isServed(path), path).toBe(true);
    for (const path of paths(2)) expect(await isServed(path), path).toBe(false);
  });

  it('links only to what is there', async () => {
    for (const [, target = ''] of page.matchAll(/\]\((?!https?:)([^)#]+)\)/g)) {
      await expect(readFile(join(ROOT, target)), target).resolves.toBeDefined();
    }
    for (const [, target = ''] of page.matchAll(/`((?:src|test|templates)\/[\w./-]+)`/g)) {
      expect(() => execFileSync('ls', [join(ROOT, target)]), target).not.toThrow();
    }
  });
});
