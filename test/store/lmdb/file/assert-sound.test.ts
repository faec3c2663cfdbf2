import { truncate } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { assertSound } from '../../../../src/store/backends/lmdb/file/assert-sound.ts';
import { openSync, closeSync } from 'node:fs';
import { bytesOf, readMeta } from '../../../../src/store/backends/lmdb/file/meta-page.ts';
import {
  below,
  BIG,
  BRANCH,
  HEAD,
  LEAF,
  longData,
  nodePage,
  numbers,
  oneLeaf,
  overflowPage,
  PAGE,
  SUB_TREE,
  treeBytes,
  writePages,
  type Meta,
  type Node,
  type Tree,
} from './page-file.ts';

const MISFIT = /its pages do not fit together/;
const text = (some: string): Buffer => Buffer.from(some);
const row = (key: string, data = text('x')): Node => ({ key, data });
const table = (tree: Tree): Node => ({ key: 'data', data: treeBytes(tree), flags: SUB_TREE });
const fileOf = (nodes: Node[], tree: Tree = {}): Promise<string> =>
  writePages({ main: { ...oneLeaf(2, nodes.length), ...tree } }, [nodePage(2, LEAF, nodes)]);
async function expectBroken(file: Promise<string>, message = MISFIT): Promise<void> {
  const name = await file;
  expect(() => assertSound(name)).toThrow(
    expect.objectContaining({ code: 'corrupt', message: expect.stringMatching(message) }),
  );
}

describe('a data file', () => {
  it('is sound where it holds nothing, a row, a table or a long value', async () => {
    expect(assertSound(await writePages({}))).toBe(false);
    expect(assertSound(await writePages({ mapSize: 2 ** 44 }))).toBe(false);
    expect(assertSound(await fileOf([row('a'), row('b')]))).toBe(false);
    const tables = [nodePage(2, LEAF, [table(oneLeaf(3, 1))]), nodePage(3, LEAF, [row('a')])];
    expect(assertSound(await writePages({ main: oneLeaf(2, 1) }, tables))).toBe(false);
    const long: Node = { key: 'a', data: longData(3, 2), flags: BIG, size: 2 * PAGE - HEAD };
    const pages = [nodePage(2, LEAF, [long]), overflowPage(3, 2), Buffer.alloc(PAGE)];
    const main = { ...oneLeaf(2, 1), overflows: 2 };
    expect(assertSound(await writePages({ main }, pages))).toBe(false);
  });

  it('is sound where branches lead to leaves, the first key of a branch being anything', async () => {
    const main = { depth: 2, branches: 1, leaves: 2, entries: 3, root: 2 };
    const leaves = [nodePage(3, LEAF, [row('a'), row('b')]), nodePage(4, LEAF, [row('c')])];
    const sound = [nodePage(2, BRANCH, [below('zz', 3), below('c', 4)]), ...leaves];
    expect(assertSound(await writePages({ main }, sound))).toBe(false);
  });

  it('is at most 32 pages deep', async () => {
    const chain = (depth: number): Promise<string> => {
      const pages = Array.from({ length: depth }, (_, index) =>
        index === depth - 1
          ? nodePage(2 + index, LEAF, [row('a')])
          : nodePage(2 + index, BRANCH, [below('a', 3 + index)]),
      );
      const main = { depth, branches: depth - 1, leaves: 1, entries: 1, root: 2 };
      return writePages({ main }, pages);
    };
    expect(assertSound(await chain(32))).toBe(false);
    await expectBroken(chain(33));
  });

  it.each<[string, Tree]>([
    ['more entries', { entries: 3 }],
    ['fewer entries', { entries: 1 }],
    ['more leaves', { leaves: 2 }],
    ['a branch', { branches: 1 }],
    ['a long value', { overflows: 1 }],
    ['no depth', { depth: 0 }],
    ['too deep a tree', { depth: 33 }],
    ['another depth', { depth: 2 }],
    ['a root that is a meta page', { root: 1 }],
    ['a root behind the last page', { root: 3 }],
    ['no root', { root: -1 }],
  ])('is broken where its main tree claims %s', async (_what, tree) => {
    await expectBroken(fileOf([row('a'), row('b')], tree));
  });

  it.each<[string, Node[]]>([
    ['keys out of order', [row('b'), row('a')]],
    ['a key twice', [row('a'), row('a')]],
    ['a flag that nobody knows', [{ ...row('a'), flags: 0x04 }]],
    ['a value that reaches out of its page', [{ ...row('a'), size: 20 }]],
    ['a value of more than 64 KiB that does', [{ ...row('a'), size: 65_536 }]],
    ['a table of the wrong size', [{ key: 'a', data: Buffer.alloc(47), flags: SUB_TREE }]],
    ['a table with flags of a foreign kind', [table({ flags: 0x04 })]],
    ['a table whose page is that of the main tree', [table(oneLeaf(2, 1))]],
    ['a table without its pages', [table({ root: -1, depth: 1, leaves: 1 })]],
  ])('is broken by %s', async (_what, nodes) => {
    await expectBroken(fileOf(nodes));
  });

  it.each<[string, number, number]>([
    ['another number', 0, 9],
    ['a transaction to come', 8, 6],
    ['another kind', 18, BRANCH],
    ['an odd number of bytes for its nodes', 20, 3],
    ['no node', 20, 0],
    ['more nodes than fit', 20, 240],
    ['nodes behind its end', 22, PAGE - HEAD + 2],
    ['a node before the others', HEAD, 4],
    ['a node at an odd place', HEAD, 221],
    ['a node behind its end', HEAD, 230],
  ])('is broken by a page with %s', async (_what, at, value) => {
    const page = nodePage(2, LEAF, [row('a'), row('b')]);
    page.writeUInt16LE(value, at);
    await expectBroken(writePages({ main: oneLeaf(2, 2) }, [page]));
  });

  it('takes a page of the transaction that counts', async () => {
    const page = nodePage(2, LEAF, [row('a')]);
    page.writeUInt16LE(5, 8);
    expect(assertSound(await writePages({ main: oneLeaf(2, 1) }, [page]))).toBe(false);
  });

  it('is broken by a key that reaches out of its page', async () => {
    const page = nodePage(2, LEAF, [row('a')]);
    const node = HEAD + page.readUInt16LE(HEAD);
    page.writeUInt16LE(PAGE, node + 6);
    await expectBroken(writePages({ main: oneLeaf(2, 1) }, [page]));
  });

  it.each<[string, Node[]]>([
    ['in the wrong order', [below('a', 3), below('c', 4), below('b', 5)]],
    ['two of which lead to one page', [below('a', 3), below('b', 3), below('c', 4)]],
    ['of which one leads back', [below('a', 3), below('b', 4), below('c', 2)]],
  ])('is broken by branches %s', async (_what, nodes) => {
    const main = { depth: 2, branches: 1, leaves: 3, entries: 3, root: 2 };
    const leaves = [3, 4, 5].map((number) => nodePage(number, LEAF, [row('a')]));
    await expectBroken(writePages({ main }, [nodePage(2, BRANCH, nodes), ...leaves]));
  });

  it.each<[string, Partial<Node>, number]>([
    ['more bytes than its pages have', { size: 2 * PAGE - HEAD + 1 }, 2],
    ['a transaction to come', { data: longData(3, 2, 6) }, 2],
    ['pages that are not there', { data: longData(3, 3) }, 3],
    ['another first page', { data: longData(4, 1), size: 9 }, 1],
    ['the page of its leaf', { data: longData(2, 1), size: 9 }, 1],
    ['fewer pages than its first one tells', { data: longData(3, 1), size: 9 }, 1],
  ])('is broken by a long value with %s', async (_what, more, overflows) => {
    const long: Node = { key: 'a', data: longData(3, 2), flags: BIG, size: 9, ...more };
    const pages = [nodePage(2, LEAF, [long]), overflowPage(3, 2), Buffer.alloc(PAGE)];
    const main = { ...oneLeaf(2, 1), overflows };
    await expectBroken(writePages({ main }, pages));
  });

  it('needs a version in front of each row of a table that has them', async () => {
    const withRow = (bytes: number): Promise<string> =>
      writePages({ main: oneLeaf(2, 1) }, [
        nodePage(2, LEAF, [table({ ...oneLeaf(3, 1), flags: 0x100 })]),
        nodePage(3, LEAF, [row('a', Buffer.alloc(bytes))]),
      ]);
    expect(assertSound(await withRow(8))).toBe(false);
    await expectBroken(withRow(7));
  });
});

describe('the free pages of a data file', () => {
  const withFree = (list: Buffer, more: Meta = {}): Promise<string> =>
    writePages({ main: oneLeaf(2, 1), free: oneLeaf(3, 1), ...more }, [
      nodePage(2, LEAF, [row('a')]),
      nodePage(3, LEAF, [{ key: numbers(1), data: list }]),
      Buffer.alloc(PAGE),
      Buffer.alloc(PAGE),
    ]);

  it.each<[string, number[]]>([
    ['none', [0]],
    ['one', [1, 4]],
    ['two', [2, 4, 5]],
    ['two in a row', [2, -2, 4]],
    ['one and a gap', [2, 0, 4]],
  ])('may be %s', async (_what, list) => {
    expect(assertSound(await withFree(numbers(...list)))).toBe(false);
  });

  it.each<[string, number[]]>([
    ['fewer than are told', [2, 4]],
    ['a number below none', [-1]],
    ['one that is in use', [1, 2]],
    ['one twice', [2, 4, 4]],
    ['a meta page', [1, 1]],
    ['one behind the last', [1, 6]],
    ['a row that ends behind the last', [2, -2, 5]],
    ['a row without its first page', [1, -2]],
    ['more than there are', [2, -6, 2]],
  ])('may not be %s', async (_what, list) => {
    await expectBroken(withFree(numbers(...list)));
  });

  it('may begin right behind the meta pages', async () => {
    const pages = [
      Buffer.alloc(PAGE),
      nodePage(3, LEAF, [{ key: numbers(1), data: numbers(1, 2) }]),
    ];
    expect(assertSound(await writePages({ free: oneLeaf(3, 1) }, pages))).toBe(false);
  });

  it('are a list that has at least its length', async () => {
    await expectBroken(withFree(numbers(0).subarray(0, 7)));
  });

  it('may lie behind the end of a file that was never written so far', async () => {
    const file = await withFree(numbers(2, 4, 7), { lastPage: 7 });
    expect(assertSound(file)).toBe(true);
  });
});

describe('a data file that is short', () => {
  it('is sound where it misses no page that holds anything', async () => {
    const file = await fileOf([row('a')]);
    expect(assertSound(file)).toBe(false);
    const longer = await writePages({ main: oneLeaf(2, 1), lastPage: 3 }, [
      nodePage(2, LEAF, [row('a')]),
    ]);
    expect(assertSound(longer)).toBe(true);
  });

  it('is broken where it does', async () => {
    const file = await fileOf([row('a')]);
    await truncate(file, 3 * PAGE - 1);
    await expectBroken(Promise.resolve(file), /it is shorter than its last commit/);
  });
});

describe('the beginning of a data file', () => {
  it.each<[string, Meta]>([
    ['another word', { magic: 0xbeefc0df }],
    ['an earlier format', { format: 1 }],
    ['another kind of page', { flags: 0 }],
    ['pages that are too small', { pageSize: 128 }],
    ['pages that are no power of two', { pageSize: 300 }],
    ['pages that are too large', { pageSize: 131_072 }],
    ['no page of its own', { lastPage: 0 }],
    ['a map that is too large', { mapSize: 2 ** 44 + 2 ** 30 }],
    ['more pages than fit a map', { lastPage: 2 ** 36 }],
    ['flags of its main tree', { main: { flags: 0x08 } }],
    ['other flags of its free tree', { free: { flags: 0 } }],
  ])('is not that of a store with %s', async (_what, meta) => {
    await expectBroken(writePages(meta), /it does not begin like a store/);
  });

  it('is cut off', async () => {
    for (const size of [1, 2 * PAGE - (PAGE - HEAD - 144) - 1]) {
      const file = await writePages({});
      await truncate(file, size);
      await expectBroken(Promise.resolve(file), /it does not begin like a store/);
    }
  });

  it('is that of a later format, which is told', async () => {
    const file = await writePages({ format: 3 });
    expect(() => assertSound(file)).toThrow(
      expect.objectContaining({
        code: 'newer_format',
        message: `${file} has file format 3; use the release that wrote it`,
      }),
    );
  });

  it('counts by the page of the later transaction', async () => {
    const file = await writePages({ transaction: 9, lastPage: 4, main: oneLeaf(2, 1) });
    const descriptor = openSync(file, 'r');
    const meta = readMeta(descriptor);
    closeSync(descriptor);
    expect(meta).toMatchObject({ transaction: 9, pageSize: PAGE, lastPage: 4, format: 2 });
    expect(meta?.main).toMatchObject({ depth: 1, leaves: 1, entries: 1, root: 2 });
    expect(meta?.free.root).toBe(-1);
    expect(meta && bytesOf(meta)).toBe(5 * PAGE);
  });
});
