const DIGITS = 16;
const NAME = /^(\w+)\.(\d{16})\.wal$/;

/** Names sort by the number of their first line. */
export const segmentName = (worker: string, first: number): string =>
  `${worker}.${String(first).padStart(DIGITS, '0')}.wal`;

/** Worker that a file belongs to; undefined for a file that is no segment. */
export const workerOf = (name: string): string | undefined => NAME.exec(name)?.[1];
