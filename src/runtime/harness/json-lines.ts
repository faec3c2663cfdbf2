import { parseObjectKeepingDigits } from '../../core/json/digits.ts';
import { HarnessError } from './harness-error.ts';
import type { HarnessProcess } from './harness-process.ts';

/** Most characters of one turn and the lines after it. */
const MAX_CHARS = 64 * 1024 * 1024;
const MAX_LINES = 250_000;

/**
 * Reads the output of a harness, one JSON object per line, one after the other: a line is read when the
 * one before it has been dealt with, so the pipe holds up a fast harness. Anything else than an
 * object, too much of it, and the end of the output are failures.
 */
export class JsonLines {
  /** Rejects with `HarnessError`, or what `take` rejects with. */
  readonly failed: Promise<never>;
  #chars = 0;
  #lines = 0;

  constructor(
    process: Pick<HarnessProcess, 'lines'>,
    take: (message: Record<string, unknown>) => Promise<void>,
  ) {
    this.failed = this.#read(process, take);
    // Those who ask the harness something wait for it, too.
    this.failed.catch(() => undefined);
  }

  /** Gives the harness new room to write. */
  beginTurn(): void {
    this.#chars = 0;
    this.#lines = 0;
  }

  async #read(
    { lines }: Pick<HarnessProcess, 'lines'>,
    take: (message: Record<string, unknown>) => Promise<void>,
  ): Promise<never> {
    for await (const line of lines) {
      this.#chars += line.length;
      this.#lines++;
      if (this.#chars > MAX_CHARS || this.#lines > MAX_LINES)
        throw new HarnessError('too_much_output');
      if (line.trim() === '') continue;
      const message = parseObjectKeepingDigits(line);
      if (!message) throw new HarnessError('invalid_output');
      await take(message);
    }
    throw new HarnessError('exited');
  }
}
