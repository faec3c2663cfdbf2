import { closeSync, fstatSync, ftruncateSync, openSync } from 'node:fs';
import { join } from 'node:path';
import type { RootDatabase } from 'lmdb';
import { damaged } from '../../damage.ts';
import { SHORTER } from './file/assert-sound.ts';
import { bytesOf, readMeta } from './file/meta-page.ts';
import type { MetaTable } from './migrations.ts';
import { transactionOf } from './transaction-of.ts';

interface Opened {
  readonly root: Pick<RootDatabase, 'transactionSync'>;
  readonly meta: MetaTable;
  readonly directory: string;
}

/**
 * Leaves a file as long as the pages that it counts, of which a commit need not write all, and the number of
 * the last transaction in it. So a file that lost its end since shows it, however little was in it. A store
 * that cannot be written any more is left as it is.
 */
export function markClosed({ root, meta, directory }: Opened): void {
  try {
    const closed = root.transactionSync(() => {
      const number = transactionOf(root) + 1;
      void meta.put('closed', number);
      return number;
    });
    root.transactionSync(() => {
      // No other process writes meanwhile, and where one has, the number has no meaning.
      if (transactionOf(root) === closed) fill(join(directory, 'data.mdb'));
    });
  } catch {
    return;
  }
}

/** Throws `corrupt` for a short file that was whole when it was closed. */
export function assertUncut({ root, meta, directory }: Opened): void {
  if (meta.get('closed') === transactionOf(root))
    throw damaged(SHORTER, join(directory, 'data.mdb'));
}

function fill(file: string): void {
  const descriptor = openSync(file, 'r+');
  try {
    const meta = readMeta(descriptor);
    if (meta && fstatSync(descriptor).size < bytesOf(meta))
      ftruncateSync(descriptor, bytesOf(meta));
  } finally {
    closeSync(descriptor);
  }
}
