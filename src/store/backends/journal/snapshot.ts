import type { StoreMeta } from '../../store-meta.ts';
import type { Row } from '../../table.ts';
import { blobName, type Blobs } from './blobs.ts';
import type { SnapshotHead } from './replay.ts';
import { toLine } from './rows.ts';

const PART_CHARS = 1024 * 1024;

export interface SnapshotOptions {
  owner: string;
  number: number;
  rows: readonly [string, Row][];
  last: string;
  lastVersion: number;
  meta: StoreMeta;
}

/**
 * Writes the rows in parts and then the blob that makes them count, and only then removes the replaced blobs; a
 * crash at any point leaves either the old state whole or both.
 */
export async function writeSnapshot(blobs: Blobs, options: SnapshotOptions): Promise<SnapshotHead> {
  const { owner, number, rows, last, lastVersion, meta } = options;
  const parts: string[] = [];
  for (const body of bodies(rows)) {
    const name = `${blobName('part', number, owner)}-${String(parts.length).padStart(6, '0')}`;
    await blobs.write(name, body);
    parts.push(name);
  }
  const head: SnapshotHead = { last, lastVersion, parts, meta };
  await writeHead(blobs, { owner, number, head });
  return head;
}

/** Makes the parts that a head names count in place of what counted before. */
export async function writeHead(
  blobs: Blobs,
  { owner, number, head }: { owner: string; number: number; head: SnapshotHead },
): Promise<void> {
  const name = blobName('snapshot', number, owner);
  await blobs.write(name, JSON.stringify(head));
  await removeReplaced(blobs, { name, head });
}

async function removeReplaced(
  blobs: Blobs,
  { name, head }: { name: string; head: SnapshotHead },
): Promise<void> {
  const kept = new Set([name, ...head.parts]);
  for (const blob of await blobs.list()) {
    const replaced =
      blob.kind === 'journal'
        ? blob.name <= head.last
        : blob.kind !== 'lock' && !kept.has(blob.name);
    if (replaced) await blobs.remove(blob.name);
  }
}

function* bodies(rows: readonly [string, Row][]): IterableIterator<string> {
  let lines: string[] = [];
  let length = 0;
  for (const [id, row] of rows) {
    const line = toLine(id, row);
    lines.push(line);
    length += line.length;
    if (length < PART_CHARS) continue;
    yield lines.join('\n');
    lines = [];
    length = 0;
  }
  if (lines.length > 0) yield lines.join('\n');
}
