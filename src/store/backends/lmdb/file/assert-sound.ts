import { closeSync, fstatSync, openSync } from 'node:fs';
import { damaged } from '../../../damage.ts';
import { StoreError } from '../../../store.ts';
import { BrokenPage, PageCheck } from './check-pages.ts';
import { bytesOf, isLaterFormat, readMeta } from './meta-page.ts';

/** Sentence about a file that is missing content. */
export const SHORTER = 'it is shorter than its last commit';
/** Each means that another process has committed meanwhile. */
const MAX_TRIES = 5;
/**
 * Most bytes that are read whole. Of a larger file that is not short only the pages that lead to the
 * rows are read, so that a start takes no longer.
 */
const MAX_READ = 256 * 1024 * 1024;

/**
 * Looks at a data file before lmdb maps it, for lmdb ends the process over pages that it does not
 * expect. True for one that is shorter than the pages that it counts, but misses none that holds anything.
 * Throws `StoreError` `corrupt` when the file is cut short or its pages do not fit together,
 * `newer_format`. Of files above 256 MiB that are not short, the pages that hold rows are not read.
 */
export function assertSound(file: string): boolean {
  const descriptor = openSync(file, 'r');
  try {
    for (let tries = 1; ; tries++) {
      const { fault, isShort } = lookAt(file, descriptor);
      if (fault === undefined) return isShort;
      if (fault !== 'changed') throw damaged(fault, file);
      // A process has it open and writes, so lmdb can read it.
      if (tries === MAX_TRIES) return false;
    }
  } finally {
    closeSync(descriptor);
  }
}

interface Look {
  /** Fault of the newest transaction; `changed` when another one came while it was read. */
  readonly fault?: string;
  readonly isShort: boolean;
}

function lookAt(file: string, descriptor: number): Look {
  const meta = readMeta(descriptor);
  // The file grows before a commit counts.
  const { size } = fstatSync(descriptor);
  if (!meta) return { fault: 'it does not begin like a store', isShort: false };
  if (isLaterFormat(meta)) {
    const { format } = meta;
    const message = `${file} has file format ${format}; use the release that wrote it`;
    throw new StoreError('newer_format', message);
  }
  const hasChanged = (): boolean =>
    readMeta(descriptor)?.transaction !== meta.transaction || fstatSync(descriptor).size !== size;
  // Pages that a commit took and gave back are counted but never written, so a sound file may be short.
  const isShort = size < bytesOf(meta);
  try {
    new PageCheck(descriptor, { meta, size, isWhole: isShort || size <= MAX_READ }).run();
    return { isShort };
  } catch (error) {
    if (!(error instanceof BrokenPage) && !(error instanceof RangeError)) throw error;
  }
  if (hasChanged()) return { fault: 'changed', isShort };
  return { fault: isShort ? SHORTER : 'its pages do not fit together', isShort };
}
