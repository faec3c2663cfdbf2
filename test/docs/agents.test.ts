import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { markedBlocks } from './code-blocks.ts';
import { canFollow, openReader, type Reader, ROOT } from './reader.ts';

const page = await readFile(join(ROOT, 'docs/agents.md'), 'utf8');

let reader: Reader;
beforeAll(async () => {
  reader = await openReader();
});
afterAll(() => reader.close());

describe('docs/agents.md', () => {
  // One after the other: what a block makes, a later one may use, as for a reader.
  for (const block of markedBlocks(page)) {
    it.skipIf(!canFollow(block))(
      `line ${block.line}: the ${block.language} block does what it says`,
      () => reader.check(block),
    );
  }
});
