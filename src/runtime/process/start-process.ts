import type { execa } from 'execa';
import type { Readable, Writable } from 'node:stream';
import { stringifyWithRaw } from '../../core/json/raw.ts';
import type { Clock } from '../../core/time/clock.ts';
import type { Reaper } from '../reaper/create-reaper.ts';
import { endGroups } from '../reaper/end-groups.ts';
import { MARKER_VARIABLE } from '../reaper/marked-group.ts';
import { LineSplitter } from './line-splitter.ts';

/** A program at work, leader of a process group of its own. */
export interface RunningProcess {
  /** Lines of stdout, read once; ends with the output. Throws a fault for a line that is too long. */
  readonly lines: AsyncIterable<string>;
  /** Resolves at the end of the process itself; the rest of its group is ended then, too. */
  readonly exited: Promise<void>;
  /** Writes one JSON value and a line break. Rejects when the process takes no further input. */
  send(value: unknown): Promise<void>;
  /** Ends the whole group: asks it to, kills it after the grace. Idempotent, never rejects. */
  end(graceMs: number): Promise<void>;
}

export interface ProcessOptions {
  readonly program: { readonly command: string; readonly args: readonly string[] };
  /** All of it. */
  readonly env: Readonly<Record<string, string>>;
  /** Default: that of the gateway. */
  readonly cwd?: string | undefined;
  /** Bytes of one line of stdout. */
  readonly maxLine: number;
  /** Unguessable and only of this start; see `MarkedGroup`. */
  readonly marker: string;
  readonly reaper: Reaper;
  readonly clock: Clock;
  /** Takes lines of stderr, cut to 2,000 bytes, at most 1,000 of them. */
  readonly onStderr: (line: string) => void;
  /** Runs when not even a kill ends the group. */
  readonly onStuck: () => void;
  /** Makes the error that is thrown for a fault. */
  readonly toError: (fault: ProcessFault) => Error;
}

export type ProcessFault = 'start_failed' | 'too_much_output';

const MAX_STDERR_LINE = 2_000;
const MAX_STDERR_LINES = 1_000;
/** Output that is still in the pipe after the end of the process can be read for so long. */
const LINGER_MS = 1_000;

/**
 * Starts a program that is ended however the gateway dies. Rejects with the fault `start_failed`.
 */
export async function startProcess(options: ProcessOptions): Promise<RunningProcess> {
  const { reaper, marker, toError } = options;
  try {
    // Registered before the start: the process must never exist without a reaper that ends it.
    await reaper.watch({ marker });
  } catch {
    throw toError('start_failed');
  }
  const { execa } = await import('execa');
  const child = spawn(execa, options);
  const { pid } = child;
  if (pid === undefined) {
    reaper.forget(marker);
    throw toError('start_failed');
  }
  const started = new StartedProcess(child, { ...options, pid });
  await reaper.watch({ marker, pid }).catch(() => started.end(0));
  return started;
}

type Child = ReturnType<typeof spawn>;

function spawn(
  run: typeof execa,
  { program: { command, args }, env, cwd, marker }: ProcessOptions,
) {
  return run(command, args, {
    ...(cwd !== undefined && { cwd }),
    env: { ...env, [MARKER_VARIABLE]: marker },
    extendEnv: false,
    detached: true,
    buffer: false,
    reject: false,
    stdin: 'pipe',
  });
}

class StartedProcess implements RunningProcess {
  readonly lines: AsyncIterable<string>;
  readonly exited: Promise<void>;
  readonly #options: ProcessOptions & { readonly pid: number };
  readonly #stdin: Writable;
  readonly #outputs: readonly Readable[];
  #ending: Promise<void> | undefined;

  constructor(child: Child, options: ProcessOptions & { readonly pid: number }) {
    this.#options = options;
    this.#stdin = child.stdin;
    this.#outputs = [child.stdout, child.stderr];
    this.exited = new Promise((resolve) => {
      child.once('exit', () => resolve());
    });
    // Writes to a process that is gone fail by themselves.
    child.stdin.on('error', () => undefined);
    this.lines = readLines(child.stdout, options);
    void drain(child.stderr, options.onStderr);
    void this.exited.then(() => this.end(0));
  }

  send(value: unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = (error?: Error | null): void => (error ? reject(error) : resolve());
      this.#stdin.write(`${stringifyWithRaw(value)}\n`, settle);
    });
  }

  end(graceMs: number): Promise<void> {
    this.#ending ??= this.#end(graceMs);
    return this.#ending;
  }

  async #end(graceMs: number): Promise<void> {
    const { marker, pid, reaper, clock, onStuck } = this.#options;
    this.#stdin.end();
    const isGone = await endGroups([{ marker, pid }], { clock, graceMs }).catch(() => false);
    // Groups that cannot be ended now are left to the reaper.
    if (isGone) reaper.forget(marker);
    else onStuck();
    clock.setTimeout(() => {
      for (const output of this.#outputs) output.destroy();
    }, LINGER_MS);
  }
}

async function* readLines(
  stdout: Readable,
  { maxLine, toError }: Pick<ProcessOptions, 'maxLine' | 'toError'>,
): AsyncGenerator<string> {
  const splitter = new LineSplitter(maxLine);
  for await (const chunk of untilClosed(stdout)) {
    for (const { text, isCut } of splitter.push(chunk)) {
      if (isCut) throw toError('too_much_output');
      yield text;
    }
  }
  const rest = splitter.end();
  if (rest !== '') yield rest;
}

/** Reads to the end whatever comes: a full pipe would stop the process. */
async function drain(stderr: Readable, onLine: (line: string) => void): Promise<void> {
  const splitter = new LineSplitter(MAX_STDERR_LINE);
  let lines = 0;
  for await (const chunk of untilClosed(stderr)) {
    for (const { text } of splitter.push(chunk)) {
      lines++;
      if (lines <= MAX_STDERR_LINES) onLine(text);
      if (lines === MAX_STDERR_LINES) onLine('(further lines are left out)');
    }
  }
}

/** A pipe that breaks has ended. */
async function* untilClosed(stream: Readable): AsyncGenerator<Buffer> {
  const chunks = stream.iterator()[Symbol.asyncIterator]();
  for (;;) {
    const next = await chunks.next().catch(() => ({ done: true, value: undefined }));
    if (next.done) return;
    yield next.value as Buffer;
  }
}
