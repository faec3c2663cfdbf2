import type { StoreMeta } from '../../store-meta.ts';
import { damaged } from '../../damage.ts';
import type { Row, Table } from '../../table.ts';
import type { BlobName, Blobs } from './blobs.ts';
import { fromLine } from './rows.ts';

/** First line of a journal blob; each names its predecessor, so a failed write can be passed over. */
export interface JournalHead {
  previous: string;
  lastVersion: number;
  /** Characters of the lines that follow; absent in blobs of older releases. */
  chars?: number;
}

/** The whole of a snapshot blob; written last, it makes its parts count. */
export interface SnapshotHead {
  /** The journal blob whose changes are the last in it. */
  last: string;
  lastVersion: number;
  parts: readonly string[];
  /** Absent in format 1. */
  meta?: StoreMeta;
}

/** State of a journal after it was read. */
export interface Tip {
  /** The last blob that counts; empty at the beginning. */
  last: string;
  lastVersion: number;
  /** Numbers from here on were never used for a blob. */
  nextNumber: number;
  /** 0 for a store that is being made. */
  format: number;
  meta: StoreMeta;
}

interface JournalBlob {
  head: JournalHead;
  lines: string[];
}

const READ_AHEAD = 8;

/**
 * Rebuilds the table from the newest whole snapshot and the chain of journal blobs after it. A torn blob at the
 * end, or one that was passed over, was never acknowledged. Rejects with `corrupt` when the chain has a hole,
 * and with `newer_format`.
 */
export async function replay(blobs: Blobs, table: Table): Promise<Tip> {
  const names = await blobs.list();
  const loaded = await loadSnapshot(blobs, names, table);
  const snapshot = loaded?.head;
  const last = snapshot?.last ?? '';
  const journals = await readJournals(
    blobs,
    names.filter(({ kind, name }) => kind === 'journal' && name > last),
  );
  const chain = chainOf(journals, last);
  for (const { lines } of chain) table.apply(new Map(lines.map(fromLine)));
  const numbers = names.filter(({ kind }) => kind !== 'lock').map(({ number }) => number);
  return {
    last: [...journals.keys()].at(-1) ?? last,
    lastVersion: Math.max(snapshot?.lastVersion ?? 0, ...chain.map(({ head }) => head.lastVersion)),
    nextNumber: Math.max(0, ...numbers) + 1,
    format: await storedFormat(blobs, loaded ? [loaded.blob] : names),
    meta: snapshot?.meta ?? {},
  };
}

/** Reads the format of the newest whole snapshot, else of the journal; 0 without either. */
export async function storedFormat(blobs: Blobs, names: readonly BlobName[]): Promise<number> {
  for (const kind of ['snapshot', 'journal']) {
    for (const { name } of names.filter((blob) => blob.kind === kind).toReversed()) {
      const format = await blobs.formatOf(name);
      if (format !== undefined) return format;
    }
  }
  return 0;
}

async function loadSnapshot(
  blobs: Blobs,
  names: BlobName[],
  table: Table,
): Promise<{ head: SnapshotHead; blob: BlobName } | undefined> {
  for (const blob of names.filter(({ kind }) => kind === 'snapshot').toReversed()) {
    const body = await blobs.read(blob.name);
    if (body === undefined) continue;
    const head: SnapshotHead = JSON.parse(body);
    const rows = await readParts(blobs, head.parts);
    if (!rows) continue;
    table.apply(rows);
    return { head, blob };
  }
  // The journal holds everything as well until the first snapshot is whole.
  const isAlone = !names.some(({ kind }) => kind === 'journal');
  if (isAlone && names.some(({ kind }) => kind === 'part'))
    throw damaged('no snapshot can be read');
  return undefined;
}

async function readParts(
  blobs: Blobs,
  parts: readonly string[],
): Promise<Map<string, Row | undefined> | undefined> {
  const rows = new Map<string, Row | undefined>();
  for (const part of parts) {
    const body = await blobs.read(part);
    if (body === undefined) return undefined;
    for (const line of body.split('\n')) rows.set(...fromLine(line));
  }
  return rows;
}

/** The blobs that are whole, in ascending order. */
async function readJournals(blobs: Blobs, names: BlobName[]): Promise<Map<string, JournalBlob>> {
  const journals = new Map<string, JournalBlob>();
  for (let i = 0; i < names.length; i += READ_AHEAD) {
    const some = names.slice(i, i + READ_AHEAD).map(({ name }) => name);
    const bodies = await Promise.all(some.map((name) => blobs.read(name)));
    for (const [n, body] of bodies.entries()) {
      if (body === undefined) {
        await assertTorn(blobs, some[n]!);
        continue;
      }
      const [head = '', ...lines] = body.split('\n');
      journals.set(some[n]!, { head: JSON.parse(head), lines });
    }
  }
  return journals;
}

/** A blob that was cut short was never acknowledged; one that has all its text was, and is damaged. */
async function assertTorn(blobs: Blobs, name: string): Promise<void> {
  const text = await blobs.readBroken(name);
  const end = text?.indexOf('\n') ?? -1;
  if (text === undefined || end < 0) return;
  let head: JournalHead;
  try {
    head = JSON.parse(text.slice(0, end));
  } catch {
    return;
  }
  const { chars } = head;
  if (chars !== undefined && text.length - end - 1 >= chars) throw damaged(`${name} was changed`);
}

function chainOf(journals: Map<string, JournalBlob>, last: string): JournalBlob[] {
  const chain: JournalBlob[] = [];
  let name = [...journals.keys()].at(-1) ?? last;
  while (name !== last) {
    const blob = journals.get(name);
    if (!blob) {
      throw damaged(`its journal has a hole, ${name || 'its beginning'} is missing or broken`);
    }
    chain.push(blob);
    name = blob.head.previous;
  }
  return chain.toReversed();
}
