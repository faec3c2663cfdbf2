import { createInterface } from 'node:readline/promises';
import { printable } from '../core/printable.ts';

/** A question on the terminal, on stderr since stdout carries the result; anything but yes is no. */
export async function ask(question: string, signal: AbortSignal): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await terminal.question(printable(question), { signal })).trim());
  } finally {
    terminal.close();
  }
}
