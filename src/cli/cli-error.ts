import { EXIT, type ExitName } from './exit-codes.ts';

export interface CliErrorOptions {
  code: string;
  message: string;
  /** Next step for the user, one line. */
  hint?: string | undefined;
  exit?: ExitName;
  status?: number | undefined;
  cause?: unknown;
}

/** A failure that a command reports in its own words, with the exit code that it stands for. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly code: string;
  readonly hint: string | undefined;
  readonly exitCode: number;
  readonly status: number | undefined;

  constructor(options: CliErrorOptions) {
    super(options.message, { cause: options.cause });
    this.code = options.code;
    this.hint = options.hint;
    this.exitCode = EXIT[options.exit ?? 'failed'].code;
    this.status = options.status;
  }
}

/** A command line that cannot be understood: exit 64. */
export function usageError(message: string, hint?: string): CliError {
  return new CliError({ code: 'usage', message, hint, exit: 'usage' });
}
