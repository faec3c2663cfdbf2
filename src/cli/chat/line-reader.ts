import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';

export interface LineReaderOptions {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  /** Gives completions of a line's beginning, and the part of it that they replace. Never rejects. */
  complete(line: string): Promise<[string[], string]>;
  /** Ctrl-C while a line is read, which is given up. */
  onInterrupt(): void;
}

type Completed = (error: null, found: [string[], string]) => void;

/**
 * Reads lines from a terminal with editing, completion and earlier lines on the arrow keys. Input
 * that is typed before a prompt is not shown and is the next line; it answers no question.
 */
export class LineReader {
  readonly #reader: Interface;
  readonly #lines: string[] = [];
  #isMuted = false;
  #isClosed = false;
  #waiting: ((line: string | undefined) => void) | undefined;
  /** Ctrl-C while nothing is asked for. */
  #stop: (() => void) | undefined;

  constructor({ input, output, complete, onInterrupt }: LineReaderOptions) {
    const shown = new Writable({
      write: (chunk, _encoding, done) => {
        if (!this.#isMuted) output.write(chunk);
        done();
      },
    });
    Object.defineProperty(shown, 'columns', {
      get: () => ('columns' in output ? output.columns : undefined),
    });
    output.on('resize', () => shown.emit('resize'));
    this.#reader = createInterface({
      input,
      output: shown,
      terminal: true,
      historySize: 1_000,
      removeHistoryDuplicates: true,
      completer: (line: string, done: Completed) => {
        void tell(complete(line), done);
      },
    });
    this.#reader.on('line', (line) => {
      if (this.#waiting === undefined) this.#lines.push(line);
      else this.#answer(line);
    });
    this.#reader.on('close', () => {
      this.#isClosed = true;
      this.#answer(undefined);
      this.#stop?.();
    });
    this.#reader.on('SIGINT', () => {
      if (this.#waiting === undefined) return this.#stop?.();
      this.#reader.write(null, { ctrl: true, name: 'e' });
      this.#reader.write(null, { ctrl: true, name: 'u' });
      output.write('^C\n');
      onInterrupt();
      this.#reader.prompt();
    });
  }

  /** True from the end of the input (Ctrl-D) on. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The answer to a question, which is always shown: lines that were typed before it are dropped. */
  question(prompt: string): Promise<string | undefined> {
    this.#lines.length = 0;
    return this.line(prompt);
  }

  /** The next line; undefined at the end of the input (Ctrl-D). */
  line(prompt: string): Promise<string | undefined> {
    this.#isMuted = false;
    const kept = this.#lines.shift();
    if (kept !== undefined) return Promise.resolve(kept);
    if (this.#isClosed) return Promise.resolve(undefined);
    this.#reader.setPrompt(prompt);
    const next = new Promise<string | undefined>((resolve) => {
      this.#waiting = resolve;
    });
    // A line that was begun while nothing was asked for stays, with the cursor in its place.
    this.#reader.prompt(true);
    return next;
  }

  /** Runs work during which Ctrl-C (and the end of the input) aborts its signal, nothing else. */
  async interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    this.#isMuted = true;
    this.#stop = () => controller.abort();
    try {
      return await work(controller.signal);
    } finally {
      this.#stop = undefined;
    }
  }

  close(): void {
    this.#reader.close();
  }

  #answer(line: string | undefined): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    this.#isMuted = true;
    waiting?.(line);
  }
}

async function tell(found: Promise<[string[], string]>, done: Completed): Promise<void> {
  done(null, await found);
}
