import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '../../../conformance/store-kill.ts';

export const PAGE = 256;
export const HEAD = 24;
export const LEAF = 0x02;
export const BRANCH = 0x01;
const OVERFLOW = 0x04;
export const BIG = 0x01;
export const SUB_TREE = 0x02;

export interface Tree {
  flags?: number;
  depth?: number;
  branches?: number;
  leaves?: number;
  overflows?: number;
  entries?: number;
  /** Negative: no page. */
  root?: number;
}

export interface Node {
  key: string | Buffer;
  data: Buffer;
  flags?: number;
  /** Size that is told. Default: that of the data. */
  size?: number;
}

const EMPTY: Required<Tree> = {
  flags: 0,
  depth: 0,
  branches: 0,
  leaves: 0,
  overflows: 0,
  entries: 0,
  root: -1,
};
/** A tree of one leaf. */
export const oneLeaf = (root: number, entries: number): Tree => ({
  depth: 1,
  leaves: 1,
  root,
  entries,
});

export function treeBytes(tree: Tree, pageSize = 0): Buffer {
  const { flags, depth, branches, leaves, overflows, entries, root } = { ...EMPTY, ...tree };
  const bytes = Buffer.alloc(48);
  bytes.writeUInt32LE(pageSize, 0);
  bytes.writeUInt16LE(flags, 4);
  bytes.writeUInt16LE(depth, 6);
  for (const [index, count] of [branches, leaves, overflows, entries, root].entries())
    bytes.writeBigInt64LE(BigInt(count), 8 + 8 * index);
  return bytes;
}

export interface Meta {
  transaction?: number;
  lastPage?: number;
  format?: number;
  pageSize?: number;
  mapSize?: number;
  magic?: number;
  flags?: number;
  main?: Tree;
  free?: Tree;
}

function metaPage(meta: Meta): Buffer {
  const { transaction = 5, lastPage = 1, format = 2, pageSize = PAGE, mapSize = 2 ** 20 } = meta;
  const { magic = 0xbeefc0de, flags = 0x08, main = {}, free = {} } = meta;
  const page = Buffer.alloc(PAGE);
  page.writeUInt16LE(flags, 18);
  page.writeUInt32LE(magic, HEAD);
  page.writeUInt32LE(format, HEAD + 4);
  page.writeBigUInt64LE(BigInt(mapSize), HEAD + 16);
  treeBytes({ flags: 0x08, ...free }, pageSize).copy(page, HEAD + 24);
  treeBytes(main).copy(page, HEAD + 72);
  page.writeBigUInt64LE(BigInt(lastPage), HEAD + 120);
  page.writeBigUInt64LE(BigInt(transaction), HEAD + 128);
  return page;
}

/** A page with nodes, which fill it from its end. */
export function nodePage(number: number, kind: number, nodes: readonly Node[]): Buffer {
  const page = Buffer.alloc(PAGE);
  page.writeBigUInt64LE(BigInt(number), 0);
  page.writeBigUInt64LE(3n, 8);
  page.writeUInt16LE(kind, 18);
  let end = PAGE - HEAD;
  for (const [index, { key, data, flags = 0, size = data.length }] of nodes.entries()) {
    const bytes = Buffer.from(key);
    const head = Buffer.alloc(8);
    head.writeUInt16LE(size & 0xffff, 0);
    head.writeUInt16LE(size >> 16, 2);
    head.writeUInt16LE(flags, 4);
    head.writeUInt16LE(bytes.length, 6);
    const node = Buffer.concat([head, bytes, data]);
    end -= node.length + (node.length % 2);
    node.copy(page, HEAD + end);
    page.writeUInt16LE(end, HEAD + 2 * index);
  }
  page.writeUInt16LE(2 * nodes.length, 20);
  page.writeUInt16LE(end, 22);
  return page;
}

/** A branch node: the page below it stands where others tell their size. */
export function below(key: string, child: number): Node {
  return { key, data: Buffer.alloc(0), size: child };
}

/** Where a long value lies: the page, its transaction and the number of pages. */
export function longData(page: number, pages: number, transaction = 3): Buffer {
  const bytes = Buffer.alloc(24);
  for (const [index, number] of [page, transaction, pages].entries())
    bytes.writeBigInt64LE(BigInt(number), 8 * index);
  return bytes;
}

export function overflowPage(number: number, pages: number): Buffer {
  const page = nodePage(number, OVERFLOW, []);
  page.writeUInt32LE(pages, 20);
  return page;
}

/** Signed numbers of eight bytes, as lists of free pages have them. */
export function numbers(...all: number[]): Buffer {
  const bytes = Buffer.alloc(8 * all.length);
  for (const [index, one] of all.entries()) bytes.writeBigInt64LE(BigInt(one), 8 * index);
  return bytes;
}

/** Writes a data file of two meta pages and these, and gives its name. */
export async function writePages(meta: Meta, pages: readonly Buffer[] = []): Promise<string> {
  const file = join(await temporaryDirectory(), 'data.mdb');
  const last = { lastPage: 1 + pages.length, ...meta };
  const older = metaPage({ ...last, transaction: (meta.transaction ?? 5) - 1 });
  await writeFile(file, Buffer.concat([older, metaPage(last), ...pages]));
  return file;
}
