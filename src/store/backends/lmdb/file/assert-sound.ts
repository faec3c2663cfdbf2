import { closeSync, fstatSync, openSync } from 'node:fs';
import { damaged } from '../../../damage.ts';
import { StoreError } from '../../../store.ts';
import { BrokenPage, PageCheck } from './check-pages.ts';
import { isLaterFormat, readMeta } from './meta-page.ts';

/** Each means that another process has committed meanwhile. */
const MAX_TRIES = 5;
/**
 * Most bytes that are read whole. Of a larger file that is not short only the pages that lead to the
 * rows are read, so that a start takes no longer.
 */
const MAX_READ = 256 * 1024 * 1024;

/**
 * Looks at a data file before lmdb maps it, for lmdb ends the process over pages that it does not
 * expect. Throws `StoreError` `corrupt` when the file is cut short or its pages do not fit together,
 * `newer_format`. Of files above 256 MiB the pages that hold rows are read only
 * where the file is shorter than the pages that it counts.
 */
export function assertSound(file: string): void {
  const descriptor = openSync(file, 'r');
  try {
    for (let tries = 1; ; tries++) {
      const fault = faultOf(file, descriptor);
      if (fault === undefined) return;
      if (fault !== 'changed') throw damaged(fault, file);
      // Somebody has it open and writes, so lmdb can read it.
      if (tries === MAX_TRIES) return;
    }
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Describes the fault of the newest transaction; `changed` when another one came while it was read.
 */
function faultOf(file: string, descriptor: number): string | undefined {
  const meta = readMeta(descriptor);
  // The file grows before a commit counts.
  const { size } = fstatSync(descriptor);
  if (!meta) return 'it does not begin like a store';
  if (isLaterFormat(meta)) {
    const { format } = meta;
    const message = `${file} has file format ${format}; use the release that wrote it`;
    throw new StoreError('newer_format', message);
  }
  const hasChanged = (): boolean =>
    readMeta(descriptor)?.transaction !== meta.transaction || fstatSync(descriptor).size !== size;
  // Pages that a commit took and gave back are counted but never written, so a sound file may be short.
  const isShort = size < (meta.lastPage + 1) * meta.pageSize;
  try {
    new PageCheck(descriptor, { meta, size, isWhole: isShort || size <= MAX_READ }).run();
    return undefined;
  } catch (error) {
    if (!(error instanceof BrokenPage) && !(error instanceof RangeError)) throw error;
  }
  if (hasChanged()) return 'changed';
  return isShort ? 'it is shorter than its last commit' : 'its pages do not fit together';
}
