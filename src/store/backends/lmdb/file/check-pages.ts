import { readSync } from 'node:fs';
import {
  NO_PAGE,
  PAGE_HEAD,
  readNumber,
  readTree,
  TREE_BYTES,
  type MetaPage,
  type TreeRecord,
} from './meta-page.ts';

const BRANCH = 0x01;
const LEAF = 0x02;
const OVERFLOW = 0x04;
const NODE_HEAD = 8;
const BIG_DATA = 0x01;
const SUB_TREE = 0x02;
const NODE_FLAGS = BIG_DATA | SUB_TREE;
/** Flag of a table whose rows begin with a version. */
const VERSIONED = 0x100;
const VERSION_BYTES = 8;
const MAX_DEPTH = 32;
const FIRST_PAGE = 2;

/** Thrown where pages do not fit together. */
export class BrokenPage extends Error {}

interface Tree {
  readonly kind: 'main' | 'free' | 'table';
  readonly record: TreeRecord;
}

const TREES = ['branches', 'leaves'] as const;
const TREES_AND_ROWS = [...TREES, 'overflows', 'entries'] as const;

export interface PageCheckOptions {
  readonly meta: MetaPage;
  /** Size of the file, in bytes. */
  readonly size: number;
  readonly isWhole: boolean;
}

interface Walk {
  readonly tree: Tree;
  readonly counted: Counted;
}

interface Counted {
  branches: number;
  leaves: number;
  overflows: number;
  entries: number;
}

/**
 * Reads the pages that the trees of a file reach, and throws {@link BrokenPage} at the first that
 * lmdb could fail or end the process over: one that is cut off, not the one that was meant, in use
 * twice, or with nodes that reach out of it. What rows hold is not looked at.
 */
export class PageCheck {
  readonly #descriptor: number;
  readonly #meta: MetaPage;
  readonly #isWhole: boolean;
  readonly #wholePages: number;
  readonly #seen: Uint8Array;
  readonly #freed: Buffer[] = [];
  /** One for each page that is being checked, from the root down. */
  readonly #buffers: Buffer[] = [];
  #held = 0;

  /** @param isWhole false: of tables, only the pages that lead to the rows are read */
  constructor(descriptor: number, { meta, size, isWhole }: PageCheckOptions) {
    this.#descriptor = descriptor;
    this.#meta = meta;
    this.#isWhole = isWhole;
    this.#wholePages = Math.floor(size / meta.pageSize);
    const pages = Math.min(meta.lastPage + 1, this.#wholePages);
    this.#seen = new Uint8Array((pages >> 3) + 1);
  }

  run(): void {
    const { free, main } = this.#meta;
    this.#checkTree({ kind: 'main', record: main });
    this.#checkTree({ kind: 'free', record: free });
    for (const list of this.#freed) this.#checkFreed(list);
  }

  #skips({ kind }: Tree): boolean {
    return kind === 'table' && !this.#isWhole;
  }

  #checkTree(tree: Tree): void {
    const { record, kind } = tree;
    const counted: Counted = { branches: 0, leaves: 0, overflows: 0, entries: 0 };
    if (record.root !== NO_PAGE) {
      if (record.depth < 1 || record.depth > MAX_DEPTH) throw new BrokenPage(`depth: ${kind}`);
      this.#checkPage(record.root, 1, { tree, counted });
    }
    for (const what of this.#skips(tree) ? TREES : TREES_AND_ROWS)
      if (counted[what] !== record[what]) throw new BrokenPage(`${what}: ${kind}`);
  }

  #checkPage(number: number, level: number, walk: Walk): void {
    const { tree, counted } = walk;
    const isLeaf = level === tree.record.depth;
    if (isLeaf && this.#skips(tree)) {
      counted.leaves++;
      return this.#take(number);
    }
    const page = this.#readPage(number);
    if (page.readUInt16LE(18) !== (isLeaf ? LEAF : BRANCH)) throw broken(number);
    counted[isLeaf ? 'leaves' : 'branches']++;
    const count = countNodes(page, number);
    this.#held++;
    let before = -1;
    for (let index = 0; index < count; index++) {
      const node = PAGE_HEAD + page.readUInt16LE(PAGE_HEAD + 2 * index);
      // The first key of a branch means all lower ones.
      if (before >= 0 && !isAscending(page, before, node)) throw broken(number);
      if (isLeaf || index > 0) before = tree.kind === 'free' ? -1 : node;
      if (isLeaf) this.#checkLeafNode(page, node, walk);
      else this.#checkPage(childOf(page, node), level + 1, walk);
    }
    this.#held--;
    if (isLeaf) counted.entries += count;
  }

  #checkLeafNode(page: Buffer, node: number, { tree, counted }: Walk): void {
    const flags = page.readUInt16LE(node + 4);
    const size = page.readUInt16LE(node) + page.readUInt16LE(node + 2) * 65_536;
    const data = node + NODE_HEAD + page.readUInt16LE(node + 6);
    const isBig = (flags & BIG_DATA) !== 0;
    const least = (tree.record.flags & VERSIONED) === 0 ? 0 : VERSION_BYTES;
    const end = data + (isBig ? PAGE_HEAD : size);
    if ((flags & ~NODE_FLAGS) !== 0 || end > page.length || size < least)
      throw new BrokenPage('a node');
    if (isBig) {
      // A shorter value may take the place of a longer one of the same commit, and keeps its pages.
      const pages = readNumber(page, data + 16);
      const isOlder = readNumber(page, data + 8) <= this.#meta.transaction;
      if (!isOlder || pages * page.length < PAGE_HEAD + size) throw new BrokenPage('a long value');
      this.#checkOverflow(readNumber(page, data), pages);
      counted.overflows += pages;
    }
    if (tree.kind === 'free')
      this.#freed.push(
        isBig
          ? this.#readBig(readNumber(page, data), size)
          : Buffer.from(page.subarray(data, data + size)),
      );
    if ((flags & SUB_TREE) === 0) return;
    const record = size === TREE_BYTES && tree.kind === 'main' ? readTree(page, data) : undefined;
    if (!record || (record.flags & ~VERSIONED) !== 0) throw new BrokenPage('a record of a table');
    this.#checkTree({ kind: 'table', record });
  }

  /** Checks that nothing of the free pages is in use: they are written over next. */
  #checkFreed(list: Buffer): void {
    const count = list.length >= 8 ? readSigned(list, 0) : -1;
    if (count < 0 || 8 * (count + 1) > list.length) throw new BrokenPage('a list of free pages');
    for (let index = 1; index <= count; index++) {
      const entry = readSigned(list, 8 * index);
      if (entry === 0) continue;
      const pages = entry < 0 ? -entry : 1;
      if (entry < 0 && index++ === count) throw new BrokenPage('a list of free pages');
      const first = readSigned(list, 8 * index);
      const end = first + pages;
      if (first < FIRST_PAGE || pages > this.#meta.lastPage || end > this.#meta.lastPage + 1)
        throw new BrokenPage('a list of free pages');
      // Those after the end of the file were never written; no tree can reach them.
      for (let next = first; next < Math.min(end, this.#wholePages); next++) this.#take(next);
    }
  }

  #readBig(number: number, size: number): Buffer {
    const { pageSize } = this.#meta;
    const bytes = Buffer.alloc(size);
    const read = readSync(this.#descriptor, bytes, 0, size, number * pageSize + PAGE_HEAD);
    if (read < size) throw broken(number);
    return bytes;
  }

  #checkOverflow(number: number, pages: number): void {
    const head = this.#readPage(number);
    if (head.readUInt16LE(18) !== OVERFLOW || head.readUInt32LE(20) !== pages) throw broken(number);
    for (let next = number + 1; next < number + pages; next++) this.#take(next);
  }

  #readPage(number: number): Buffer {
    this.#take(number);
    const { pageSize } = this.#meta;
    const page = (this.#buffers[this.#held] ??= Buffer.alloc(pageSize));
    const read = readSync(this.#descriptor, page, 0, pageSize, number * pageSize);
    if (read < pageSize || readNumber(page, 0) !== number) throw broken(number);
    // Lmdb writes pages that seem to be of a transaction to come to where they lie.
    if (readNumber(page, 8) > this.#meta.transaction) throw broken(number);
    return page;
  }

  /** No page belongs to two nodes. */
  #take(number: number): void {
    if (number < FIRST_PAGE || number > this.#meta.lastPage || number >= this.#wholePages)
      throw broken(number);
    const [byte, bit] = [number >> 3, 1 << (number & 7)];
    if ((this.#seen[byte]! & bit) !== 0) throw broken(number);
    this.#seen[byte]! |= bit;
  }
}

/** Number of nodes of a page, each of which begins and has its key inside of it. */
function countNodes(page: Buffer, number: number): number {
  const [lower, upper] = [page.readUInt16LE(20), page.readUInt16LE(22)];
  if (lower < 2 || lower % 2 !== 0 || lower > upper || upper > page.length - PAGE_HEAD)
    throw broken(number);
  for (let at = PAGE_HEAD; at < PAGE_HEAD + lower; at += 2) {
    const offset = page.readUInt16LE(at);
    const key = PAGE_HEAD + offset + NODE_HEAD;
    if (offset < upper || offset % 2 !== 0 || key > page.length) throw broken(number);
    if (key + page.readUInt16LE(key - 2) > page.length) throw broken(number);
  }
  return lower / 2;
}

function isAscending(page: Buffer, before: number, node: number): boolean {
  const [first, second] = [before + NODE_HEAD, node + NODE_HEAD];
  const [firstEnd, secondEnd] = [first + sizeOfKey(page, before), second + sizeOfKey(page, node)];
  return page.compare(page, second, secondEnd, first, firstEnd) < 0;
}

const sizeOfKey = (page: Buffer, node: number): number => page.readUInt16LE(node + 6);

function childOf(page: Buffer, node: number): number {
  return page.readUInt32LE(node) + page.readUInt16LE(node + 4) * 2 ** 32;
}

/** 64 bits that may be negative. */
function readSigned(bytes: Buffer, at: number): number {
  return bytes.readInt32LE(at + 4) * 2 ** 32 + bytes.readUInt32LE(at);
}

function broken(number: number): BrokenPage {
  return new BrokenPage(`page ${number}`);
}
