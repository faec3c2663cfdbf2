import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { markedBlocks } from './code-blocks.ts';
import { canFollow, type Desk, openDesk, openReader, type Reader, ROOT } from './reader.ts';

export interface FollowedPage {
  readonly text: string;
  /** The gateway and terminal of the page; only within tests. */
  readonly reader: () => Reader;
}

/** Declares a test for each marked block of a page, in order, beside one gateway for the page. */
export function followPage(path: string): Promise<FollowedPage> {
  return follow(path, openReader);
}

/** The same in an empty folder, where blocks start what they need. */
export async function followWalk(path: string): Promise<void> {
  await follow(path, openDesk);
}

async function follow<D extends Desk>(path: string, open: () => Promise<D>) {
  const text = await readFile(join(ROOT, path), 'utf8');
  let desk: D | undefined;
  const opened = (): D => {
    if (desk === undefined) throw new Error(`${path} is followed within tests alone`);
    return desk;
  };
  beforeAll(async () => {
    desk = await open();
  });
  afterAll(() => desk?.close());

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
