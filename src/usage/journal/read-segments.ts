import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readFrames } from './frames.ts';
import { fromLine } from './journal-line.ts';
import type { JournalLine } from './journal-line.ts';
import { workerOf } from './segment-name.ts';

export interface NumberedLine {
  readonly number: number;
  readonly line: JournalLine;
}

/** Files of a worker's journal, oldest first. */
export async function findSegments(folder: string, worker: string): Promise<string[]> {
  const names = await readdir(folder).catch(unlessGone<string[]>([]));
  return names
    .filter((name) => workerOf(name) === worker)
    .sort()
    .map((name) => join(folder, name));
}

/** Lines of a file after a number. A file that is gone was stored meanwhile. */
export async function readSegment(path: string, after: number): Promise<NumberedLine[]> {
  const bytes = await readFile(path).catch(unlessGone(undefined));
  if (!bytes) return [];
  const found: NumberedLine[] = [];
  for (const { first, lines } of readFrames(bytes)) {
    for (const [index, line] of lines.entries()) {
      const number = first + index;
      if (number > after) found.push({ number, line: fromLine(line) });
    }
  }
  return found;
}

function unlessGone<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return value;
    throw error;
  };
}
