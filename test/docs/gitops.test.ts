import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { markedBlocks } from './code-blocks.ts';
import { openReader, type Reader, ROOT } from './reader.ts';
import { withGenerated } from './table.ts';

const file = join(ROOT, 'docs/gitops.md');
const page = await readFile(file, 'utf8');

let reader: Reader;
beforeAll(async () => {
  reader = await openReader();
});
afterAll(() => reader.close());

describe('docs/gitops.md', () => {
  // One after the other: what a block makes, a later one may use, as for a reader.
  for (const block of markedBlocks(page)) {
    it(`line ${block.line}: the ${block.language} block does what it says`, () =>
      reader.check(block));
  }

  it.each(['docs/gitops.md', 'README.md'])(
    '%s has the workflow that the template has; `-u` writes the page again',
    async (name) => {
      const path = 'templates/gitops/.github/workflows/gateway.yml';
      const workflow = await readFile(join(ROOT, path), 'utf8');
      const text = await readFile(join(ROOT, name), 'utf8');
      const block = `\`\`\`yaml\n${workflow}\`\`\``;
      await expect(withGenerated(text, 'workflow', block)).toMatchFileSnapshot(join(ROOT, name));
    },
  );
});
