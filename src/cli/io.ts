import type { Sink } from './output/output.ts';

export interface Signals {
  on(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  off(signal: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}

/** The process as the command line sees it; tests hand in their own. */
export interface CliIo {
  /** The words after `gateway`. */
  argv: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  stdin: AsyncIterable<Uint8Array | string> & { readonly isTTY?: boolean | undefined };
  stdout: Sink;
  stderr: Sink;
  signals: Signals;
  /** True once a command streams its output: without a reader it has nothing left to do. */
  isStreaming?: boolean;
  /** Ends the process at once. */
  exit(code: number): void;
  fetch?: typeof globalThis.fetch | undefined;
}
