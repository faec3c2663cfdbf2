import type { Client } from '../client/create-client.ts';
import type { Clock } from '../core/time/clock.ts';
import { usageError } from './cli-error.ts';
import type { Connection } from './connection/connection.ts';
import type { GlobalFlags } from './grammar/global-flags.ts';
import type { CliIo } from './io.ts';
import type { Output } from './output/output.ts';

export interface ConnectOptions {
  /** A file of the project; its directory is searched for `.gateway` too. */
  near?: string | undefined;
  /** False for calls that need no key; default true. */
  keyRequired?: boolean;
  /** Values of --server, --context and --api-key-file that the command got in another way. */
  given?: Readonly<Record<string, string>>;
}

/** Surroundings of a command in addition to its own arguments. */
export interface CommandContext {
  readonly io: CliIo;
  readonly output: Output;
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** The value of --timeout in milliseconds. */
  readonly timeoutMs: number;
  /** The value of --output: `text`, `json`, or a format of the command's own. */
  readonly format: string;
  /** Global flags, with where their values come from. */
  readonly globals: GlobalFlags;
  /** Finds server and key; throws `no_api_key` (exit 4) without a key. */
  connection(options?: ConnectOptions): Promise<Connection>;
  connect(options?: ConnectOptions): Promise<Client>;
  /** A client of a server that is named by the command itself. */
  connectTo(target: Pick<Connection, 'server' | 'apiKey'>): Promise<Client>;
  /**
   * Asks on a terminal; throws when the answer is no (`declined`, exit 1), for Ctrl-C (exit 130), and
   * without a terminal when --yes is missing (exit 64).
   */
  confirm(question: string): Promise<void>;
  /** True when {@link confirm} asks a person: on a terminal and without --yes. */
  readonly asks: boolean;
  /** All of stdin as text; at most 32 MiB. */
  readStdin(): Promise<string>;
}

export interface ContextOptions {
  io: CliIo;
  output: Output;
  globals: GlobalFlags;
  signal: AbortSignal;
  format: string;
}

const TIMEOUT_MS = 60_000;
const MAX_STDIN = 32 * 1024 * 1024;

export function createContext({
  io,
  output,
  globals,
  signal,
  format,
}: ContextOptions): CommandContext {
  const connection = async (options: ConnectOptions = {}) => {
    const { locateGateway } = await import('./connection/locate-gateway.ts');
    const found = await locateGateway(io, globals, options);
    output.debug(`server ${found.server} (${found.serverOrigin}), key from ${found.keyOrigin}`);
    return found;
  };
  const timeoutMs = globals.values.timeout ?? TIMEOUT_MS;
  const connectTo: CommandContext['connectTo'] = async ({ server, apiKey }) => {
    const { createClient } = await import('../client/create-client.ts');
    const { sendWithNode } = await import('../client/http/node-transport.ts');
    return createClient({
      baseUrl: server,
      apiKey,
      clock: processClock,
      ...(io.fetch ? { fetch: io.fetch } : { transport: sendWithNode }),
      timeoutMs,
      userAgent: 'gateway-cli',
      trace: (line) => output.debug(line),
    });
  };
  return {
    io,
    output,
    signal,
    timeoutMs,
    format,
    globals,
    clock: processClock,
    connection,
    connect: async (options) => connectTo(await connection(options)),
    connectTo,
    asks: isTerminal(io) && !globals.values.yes,
    async confirm(question) {
      if (globals.values.yes) return;
      if (!isTerminal(io)) {
        throw usageError(`${question} Cannot ask for confirmation here`, 'add --yes to continue');
      }
      const { ask } = await import('./input/ask.ts');
      await ask(question, { input: process.stdin, output: process.stderr, signal });
    },
    readStdin: () => readAll(io.stdin),
  };
}

/** True when a person can be asked: stdin and stderr are a terminal. */
export function isTerminal({ stdin, stderr }: CliIo): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/** Clock whose timers keep the process alive, unlike the server's: a pause must not end the command. */
const processClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout(fn, ms) {
    const handle = setTimeout(fn, ms);
    return { cancel: () => clearTimeout(handle) };
  },
};

async function readAll(stdin: CliIo['stdin']): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stdin) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MAX_STDIN) throw usageError('stdin holds more than 32 MiB');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}
