import { Buffer } from 'node:buffer';
import type { Key, Op, Store } from '../../store/store.ts';

/** Well below the largest value that a store takes. */
const PIECE_BYTES = 8 * 1024 * 1024;

const pieceKey = (id: string, index: number): Key => ['content', id, index];

/** Writes bytes below an id of their own. */
export function contentOps(id: string, bytes: Buffer): Op[] {
  return pieces(bytes.length).map((index) => ({
    type: 'put',
    key: pieceKey(id, index),
    value: bytes.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES),
  }));
}

/** @param size bytes, as they were written */
export function contentRemovals(id: string, size: number): Op[] {
  return pieces(size).map((index) => ({ type: 'delete', key: pieceKey(id, index) }));
}

/** Undefined when it was removed meanwhile. */
export async function readContent(
  store: Pick<Store, 'get'>,
  id: string,
  size: number,
): Promise<Buffer | undefined> {
  const found: Uint8Array[] = [];
  for (const index of pieces(size)) {
    const piece = await store.get<Uint8Array>(pieceKey(id, index));
    if (!piece) return undefined;
    found.push(piece.value);
  }
  return Buffer.concat(found);
}

function pieces(size: number): number[] {
  return Array.from({ length: Math.ceil(size / PIECE_BYTES) }, (_, index) => index);
}
