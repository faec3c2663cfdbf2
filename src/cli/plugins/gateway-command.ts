import { reasonOf } from '../../core/errors.ts';
import { format } from 'node:util';
import { Command } from '@oclif/core';
import type { Interfaces } from '@oclif/core';
import type { Client } from '../../client/create-client.ts';
import { CliError, usageError, type CliErrorOptions } from '../cli-error.ts';

/** Surroundings that the command line gives to a command of a plugin. */
export interface GatewayContext {
  /** The value of --output. */
  readonly format: string;
  readonly quiet: boolean;
  /** The value of --timeout in milliseconds. */
  readonly timeoutMs: number;
  /** Aborted by the first SIGINT or SIGTERM; the second one ends the process. */
  readonly signal: AbortSignal;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opens no connection; throws `no_api_key` (exit 4) without a key. */
  connect(): Promise<Client>;
  /** Asks on a terminal; throws if the answer is no (exit 1) or no prompt is possible (exit 64). */
  confirm(question: string): Promise<void>;
  /** All of stdin as text; at most 32 MiB. */
  readStdin(): Promise<string>;
  /** Writes to stdout in text output, and nowhere with -o json. */
  print(text: string): void;
  /** Writes to stderr; silent with --quiet. */
  note(text: string): void;
  /** Writes to stderr; a member of the document with -o json. */
  warn(text: string): void;
}

/**
 * The base of a plugin's commands. `run()` gives what becomes `data` of the JSON document, and is
 * printed in text output unless the command logged lines of its own. Global flags and `GATEWAY_*`
 * variables are dealt with before; any error is reported once, with the name of the plugin.
 *
 * @example
 * ```ts
 * import { Flags, GatewayCommand } from 'agent-gateway/plugin';
 *
 * export default class Ping extends GatewayCommand {
 *   static override description = 'Say whether the gateway answers';
 *   static override flags = { loud: Flags.boolean({ description: 'In capitals' }) };
 *
 *   async run(): Promise<{ models: number }> {
 *     const { flags } = await this.parse(Ping);
 *     const client = await this.client();
 *     const models = await client.models.list({ type: '' });
 *     this.log(flags.loud ? 'IT ANSWERS' : 'it answers');
 *     return { models: models.length };
 *   }
 * }
 * ```
 */
export abstract class GatewayCommand extends Command {
  #gateway: GatewayContext | undefined;

  /** Flags, signal, questions and stdin of the command line. */
  get gateway(): GatewayContext {
    if (this.#gateway === undefined) throw new Error('only `gateway` itself can run this command');
    return this.#gateway;
  }

  /** The typed client of the gateway that flags, environment or the nearest `.gateway` name. */
  client(): Promise<Client> {
    return this.gateway.connect();
  }

  /** Ends the command; `exit` is a name of the table of exit codes, default `failed` (1). */
  fail(failure: CliErrorOptions): never {
    throw new CliError(failure);
  }

  override log(message: unknown = '', ...values: unknown[]): void {
    this.gateway.print(`${format(message, ...values)}\n`);
  }

  override logToStderr(message: unknown = '', ...values: unknown[]): void {
    this.gateway.note(format(message, ...values));
  }

  override warn(input: Error | string): Error | string {
    this.gateway.warn(typeof input === 'string' ? input : input.message);
    return input;
  }

  /** Serves the command line, not commands. */
  async runWith(gateway: GatewayContext): Promise<unknown> {
    this.#gateway = gateway;
    // Unknown flags are refused before, so a command without any need not parse.
    this.parsed = true;
    return this._run<unknown>();
  }

  /** Arguments and flags; a wrong one is a usage error (exit 64). */
  protected override async parse<
    F extends Interfaces.OutputFlags<Interfaces.FlagInput>,
    B extends Interfaces.OutputFlags<Interfaces.FlagInput>,
    A extends Interfaces.OutputArgs<Interfaces.ArgInput>,
  >(
    options?: Interfaces.Input<F, B, A>,
    argv?: string[],
  ): Promise<Interfaces.ParserOutput<F, B, A>> {
    try {
      return await super.parse(options, argv);
    } catch (thrown) {
      const text = reasonOf(thrown);
      const message = text.replace(/\nSee more help.*$/s, '').replaceAll(/(?<!\s)\s*\n\s*/g, ' ');
      throw usageError(message, `see \`gateway ${this.id?.replaceAll(':', ' ')} --help\``);
    }
  }

  /** The inherited one sets the exit code of the process, which is the command line's to set. */
  protected override async catch(thrown: Error): Promise<never> {
    throw thrown;
  }
}
