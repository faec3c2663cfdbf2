import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { main } from '../../src/cli/main.ts';
import { emptyDirectory } from '../support/each-file/empty-directory.ts';

export interface CliRun {
  code: number;
  stdout: string;
  stderr: string;
  /** The JSON document on stdout; throws when there is not exactly one. */
  json(): any;
}

export interface CliOptions {
  env?: Record<string, string>;
  cwd?: string;
  stdin?: string;
  /** Streams that say they are terminals. */
  tty?: boolean;
  signals?: EventEmitter;
  onExit?: (code: number) => void;
  onStdout?: (text: string) => void;
  onStderr?: (text: string) => void;
  /** Command line in place of the one of the sources. */
  main?: typeof main;
  /** Receives what is written to stdout as bytes. */
  onBytes?: (bytes: Uint8Array) => void;
}

class TextSink extends EventEmitter {
  text = '';
  readonly isTTY: boolean;
  readonly #options: Pick<CliOptions, 'onStdout' | 'onBytes'>;
  constructor(isTTY: boolean, options: Pick<CliOptions, 'onStdout' | 'onBytes'> = {}) {
    super();
    this.isTTY = isTTY;
    this.#options = options;
  }
  write(content: string | Uint8Array): boolean {
    const bytes = Buffer.from(content);
    const text = bytes.toString();
    this.text += text;
    this.#options.onStdout?.(text);
    this.#options.onBytes?.(bytes);
    return true;
  }
}

/** Runs a command line in this process, on streams of its own. */
export async function runCli(argv: string[], options: CliOptions = {}): Promise<CliRun> {
  const { tty = false } = options;
  const stdout = new TextSink(tty, options);
  const stderr = new TextSink(tty, options.onStderr && { onStdout: options.onStderr });
  const stdin = Object.assign(Readable.from(options.stdin === undefined ? [] : [options.stdin]), {
    isTTY: tty,
  });
  const code = await (options.main ?? main)({
    argv,
    env: options.env ?? {},
    cwd: options.cwd ?? (await emptyDirectory()),
    stdin,
    stdout,
    stderr,
    signals: options.signals ?? new EventEmitter(),
    exit: options.onExit ?? (() => undefined),
  });
  return {
    code,
    stdout: stdout.text,
    stderr: stderr.text,
    json: () => JSON.parse(stdout.text),
  };
}
