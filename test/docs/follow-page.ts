import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { markedBlocks } from './code-blocks.ts';
import { canFollow, openReader, type Reader, ROOT } from './reader.ts';

export interface FollowedPage {
  readonly text: string;
  /** The gateway and terminal of the page; only within tests. */
  readonly reader: () => Reader;
}

/** Declares a test for each marked block of a page, in order, beside one gateway for the page. */
export async function followPage(path: string): Promise<FollowedPage> {
  const text = await readFile(join(ROOT, path), 'utf8');
  let reader: Reader | undefined;
  const opened = (): Reader => {
    if (reader === undefined) throw new Error(`${path} is followed within tests alone`);
    return reader;
  };
  beforeAll(async () => {
    reader = await openReader();
  });
  afterAll(() => reader?.close());

  describe(path, () => {
    // One after the other: what a block makes, a later one may use, as for a reader.
    for (const block of markedBlocks(text).filter(({ mark }) => mark !== 'start')) {
      it.skipIf(!canFollow(block))(
        `line ${block.line}: the ${block.language} block does what it says`,
        () => opened().check(block),
      );
    }
  });
  return { text, reader: opened };
}
