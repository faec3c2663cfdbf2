import { reasonOf } from '../../core/errors.ts';
import { ClientError } from '../../client/http/client-error.ts';
import { CliError } from '../cli-error.ts';
import { EXIT, type ExitName } from '../exit-codes.ts';

/**
 * Turns an error of a plugin into one of the command line that names the plugin. Errors of the
 * client and of `fail` keep code, hint and exit; `exit(n)` and `error(…, { exit: n })` of oclif
 * keep an exit code that is in our table. Undefined for an exit without a fault.
 */
export function toPluginFailure(plugin: string, thrown: unknown): Error | undefined {
  const message = `plugin ${plugin}: ${reasonOf(thrown)}`;
  if (thrown instanceof CliError || thrown instanceof ClientError) {
    thrown.message = message;
    return thrown;
  }
  const exit = exitOf(thrown);
  const isExit = thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIT';
  if (isExit && exit === 'ok') return undefined;
  return new CliError({
    code: 'plugin_failed',
    message: isExit ? `plugin ${plugin} failed` : message,
    hint: 'add --debug for the stack',
    // An error may not end in success, and 2, the default of oclif, means changes here.
    exit: exit === 'ok' || exit === 'changes' ? 'failed' : exit,
    cause: thrown,
  });
}

/** The exit that an error of @oclif/core carries, by its name in the table. */
function exitOf(thrown: unknown): ExitName {
  const { oclif } = Object(thrown) as { oclif?: { exit?: unknown } };
  const names = Object.keys(EXIT) as ExitName[];
  return names.find((name) => EXIT[name].code === oclif?.exit) ?? 'failed';
}
