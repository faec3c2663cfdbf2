import { EXIT, type ExitName } from './exit-codes.ts';

/** Code, sentence and next step of a failure; `exit` is by default `failed`. */
export interface CliErrorOptions {
  code: string;
  message: string;
  /** Next step for the user. */
  hint?: string | undefined;
  exit?: ExitName;
  status?: number | undefined;
  cause?: unknown;
}

/**
 * A failure that a command reports in its own words, with its exit code.
 *
 * @example
 * ```ts
 * import { CliError } from 'agent-gateway/plugin';
 *
 * const refuse = (name: string): never => {
 *   const message = `the model ${name} has no routes`;
 *   throw new CliError({ code: 'no_route', message, hint: 'Add one to gateway.yaml.' });
 * };
 * ```
 */
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

/**
 * A command line that cannot be understood: exit 64.
 *
 * @example
 * ```ts
 * import { usageError } from 'agent-gateway/plugin';
 *
 * function toDay(text: string): Date {
 *   const day = new Date(text);
 *   if (Number.isNaN(day.getTime())) throw usageError(`no day is called ${text}`, 'Write 2030-01-31.');
 *   return day;
 * }
 * ```
 */
export function usageError(message: string, hint?: string): CliError {
  return new CliError({ code: 'usage', message, hint, exit: 'usage' });
}
