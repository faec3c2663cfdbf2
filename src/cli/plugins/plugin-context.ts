import type { CommandContext } from '../context.ts';
import type { GatewayContext } from './gateway-command.ts';

/** Surroundings of a command of a plugin; `print` takes its lines. */
export function toGatewayContext(
  context: CommandContext,
  print: (text: string) => void,
): GatewayContext {
  const { io, output, signal, timeoutMs } = context;
  return {
    format: context.format,
    quiet: output.quiet,
    timeoutMs,
    signal,
    cwd: io.cwd,
    env: io.env,
    connect: () => context.connect(),
    confirm: (question) => context.confirm(question),
    readStdin: () => context.readStdin(),
    print,
    note: (text) => output.note(text),
    warn: (text) => output.warn(text),
  };
}

export interface Printer {
  /** Everything so far. */
  readonly printed: string;
  readonly print: (text: string) => void;
  /** Settles when all of it is written. */
  readonly done: () => Promise<void>;
}

/** Lines of a command, in their order, as fast as the reader takes them; with -o json they wait. */
export function createPrinter({ output }: CommandContext): Printer {
  let last = Promise.resolve();
  let printed = '';
  return {
    get printed() {
      return printed;
    },
    print(text: string) {
      printed += text;
      if (output.format !== 'json') last = last.then(() => output.print(text));
    },
    done: () => last,
  };
}
