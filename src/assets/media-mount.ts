import { Buffer } from 'node:buffer';
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createStorage } from 'unstorage';
import { atPathFault } from '../core/disk-fault.ts';
import type { Clock, Timer } from '../core/time/clock.ts';
import { gatherBody, sliceBody } from '../core/memory/spooled-body.ts';
import type { SpooledBody } from '../core/memory/spooled-body.ts';
import { loadDriver } from '../store/unstorage/load-driver.ts';
import { isFileDriver } from '../store/unstorage/file-drivers.ts';
import type { StoreConfig } from '../store/store-config.ts';

/** Size of a piece, so that a range of a long film does not bring the whole of it into memory. */
const PIECE_BYTES = 4 * 1024 * 1024;
/** Time for one piece; drivers know no bound of their own. */
const TIMEOUT_MS = 60_000;

/** Storage of media: any unstorage driver. Media that was written is never changed. */
export interface MediaMount {
  /** Resolves when all of it is there. A write that failed removes its bytes. */
  write(id: string, content: SpooledBody): Promise<void>;
  /** Nothing is read before the body is opened; that rejects where the media is gone or damaged. */
  read(id: string, size: number): SpooledBody;
  /** @param size bytes, as they were written */
  remove(id: string, size: number): Promise<void>;
  close(): Promise<void>;
}

/** Rejects with `StoreError` when there is no such driver or its package is missing. */
export async function openMediaMount(config: StoreConfig, clock: Clock): Promise<MediaMount> {
  const bounded = async <T>(work: Promise<T>): Promise<T> => {
    let timer: Timer | undefined;
    const late = new Promise<never>((_, reject) => {
      const error = new Error('the media store does not answer');
      timer = clock.setTimeout(() => reject(error), TIMEOUT_MS);
    });
    return Promise.race([work, late]).finally(() => timer?.cancel());
  };
  const storage = createStorage({ driver: await loadDriver(config) });
  const folder = folderOf(config);
  // A former release made it as open as the folder above; some file systems know no modes.
  if (folder !== undefined) await chmod(folder, 0o700).catch(() => undefined);
  const readPiece = async (id: string, index: number, size: number): Promise<Buffer> => {
    const raw = await bounded(storage.getItemRaw(keyOf(id, index))).catch((cause: unknown) => {
      throw new Error(`media ${id} cannot be read`, { cause });
    });
    const piece = toBuffer(raw);
    const expected = Math.min(PIECE_BYTES, size - index * PIECE_BYTES);
    if (piece?.length !== expected) throw new Error(`media ${id} is not whole`);
    return piece;
  };
  const remove = async (id: string, size: number): Promise<void> => {
    for (const index of piecesOf(size)) await bounded(storage.removeItem(keyOf(id, index)));
  };
  return {
    async write(id, content) {
      let end = 0;
      try {
        if (folder !== undefined) await mkdir(folder, { recursive: true, mode: 0o700 });
        for (const index of piecesOf(content.length)) {
          const start = end;
          end = Math.min(start + PIECE_BYTES, content.length);
          const piece = await gatherBody(sliceBody(content, start, end), PIECE_BYTES);
          await bounded(storage.setItemRaw(keyOf(id, index), piece));
        }
      } catch (error) {
        await remove(id, end).catch(() => undefined);
        const use = { setting: 'server.media.store.path' };
        throw folder === undefined ? error : atPathFault(folder, error, use);
      }
    },
    read: (id, size) => ({
      length: size,
      async *open(start = 0, end = size) {
        for (let at = start; at < end;) {
          const index = Math.floor(at / PIECE_BYTES);
          const from = index * PIECE_BYTES;
          const piece = await readPiece(id, index, size);
          yield piece.subarray(at - from, end - from);
          at = from + piece.length;
        }
      },
    }),
    remove,
    close: () => storage.dispose(),
  };
}

function piecesOf(size: number): number[] {
  return Array.from({ length: Math.ceil(size / PIECE_BYTES) }, (_, index) => index);
}

const ROOT = 'media';
const keyOf = (id: string, index: number): string => `${ROOT}:${id}:${index}`;

/**
 * Folder of everything that a file driver writes, which would let all users of the machine read it. The one
 * above may be the operator's, such as a volume.
 */
function folderOf({ driver, path }: StoreConfig): string | undefined {
  return path !== undefined && isFileDriver(driver) ? join(path, ROOT) : undefined;
}

/** Returns bytes from the forms in which drivers give them. */
function toBuffer(raw: unknown): Buffer | undefined {
  if (Buffer.isBuffer(raw)) return raw;
  if (raw instanceof ArrayBuffer) return Buffer.from(raw);
  if (!ArrayBuffer.isView(raw)) return undefined;
  return Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
}
