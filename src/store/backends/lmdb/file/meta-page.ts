import { readSync } from 'node:fs';

/** Bytes of the head of every page. */
export const PAGE_HEAD = 24;
export const NO_PAGE = -1;

const MAGIC = 0xbeefc0de;
const FILE_FORMAT = 2;
const META_FLAG = 0x08;
const META_BYTES = PAGE_HEAD + 144;
const LEAST_PAGE = 256;
const LARGEST_PAGE = 65_536;
const LARGEST_MAP = 2 ** 44;
/** Keys that are numbers. */
const INTEGER_KEYS = 0x08;
/** Bytes of the record of a tree. */
export const TREE_BYTES = 48;

/** Record of one of the file's trees. */
export interface TreeRecord {
  readonly flags: number;
  readonly depth: number;
  readonly branches: number;
  readonly leaves: number;
  readonly overflows: number;
  readonly entries: number;
  /** {@link NO_PAGE} for a tree without entries. */
  readonly root: number;
}

/** One of the two pages at the beginning; the one with the higher transaction counts. */
export interface MetaPage {
  readonly format: number;
  readonly pageSize: number;
  readonly lastPage: number;
  readonly transaction: number;
  readonly free: TreeRecord;
  readonly main: TreeRecord;
}

/** The meta page that counts; undefined when the pages are not those of an lmdb file. */
export function readMeta(descriptor: number): MetaPage | undefined {
  const first = readMetaAt(descriptor, 0);
  const second = first && readMetaAt(descriptor, first.pageSize);
  if (!first || !second || first.pageSize !== second.pageSize) return undefined;
  return second.transaction > first.transaction ? second : first;
}

/** Bytes of the pages that are counted, of which a file need not have all. */
export const bytesOf = ({ lastPage, pageSize }: MetaPage): number => (lastPage + 1) * pageSize;

/** Undefined for a page that is cut short or no meta page. A later format is reported, not checked. */
function readMetaAt(descriptor: number, position: number): MetaPage | undefined {
  const page = Buffer.alloc(META_BYTES);
  if (readSync(descriptor, page, 0, META_BYTES, position) < META_BYTES) return undefined;
  const at = PAGE_HEAD;
  if (page.readUInt32LE(at) !== MAGIC) return undefined;
  const meta: MetaPage = {
    format: page.readUInt32LE(at + 4) & 0xffff,
    pageSize: page.readUInt32LE(at + 24),
    free: readTree(page, at + 24),
    main: readTree(page, at + 24 + TREE_BYTES),
    lastPage: readNumber(page, at + 120),
    transaction: readNumber(page, at + 128),
  };
  if (meta.format > FILE_FORMAT) return meta;
  const mapSize = readNumber(page, at + 16);
  return isSound(meta, mapSize) && (page.readUInt16LE(18) & META_FLAG) !== 0 ? meta : undefined;
}

function isSound(meta: MetaPage, mapSize: number): boolean {
  const { format, pageSize, lastPage, free, main } = meta;
  return (
    free.flags === INTEGER_KEYS &&
    main.flags === 0 &&
    format === FILE_FORMAT &&
    pageSize >= LEAST_PAGE &&
    pageSize <= LARGEST_PAGE &&
    (pageSize & (pageSize - 1)) === 0 &&
    lastPage >= 1 &&
    mapSize <= LARGEST_MAP &&
    lastPage < LARGEST_MAP / pageSize
  );
}

export const isLaterFormat = ({ format }: MetaPage): boolean => format > FILE_FORMAT;

export function readTree(bytes: Buffer, at: number): TreeRecord {
  return {
    flags: bytes.readUInt16LE(at + 4),
    depth: bytes.readUInt16LE(at + 6),
    branches: readNumber(bytes, at + 8),
    leaves: readNumber(bytes, at + 16),
    overflows: readNumber(bytes, at + 24),
    entries: readNumber(bytes, at + 32),
    root: readNumber(bytes, at + 40),
  };
}

/** 64 bits; all ones are {@link NO_PAGE}, and a number beyond safe integers is only that large. */
export function readNumber(bytes: Buffer, at: number): number {
  const [low, high] = [bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)];
  if (low === 0xffffffff && high === 0xffffffff) return NO_PAGE;
  return high * 2 ** 32 + low;
}
