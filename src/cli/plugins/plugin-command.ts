import type { ArgSpec, CommandSpec, FlagSpec } from '../command.ts';
import { defineCommand, type CommandDeclaration } from '../define-command.ts';
import type { GatewayContext } from './gateway-command.ts';

/**
 * Declares a command of a plugin as the commands of the binary are declared. `run` has the values of what
 * `args` and `flags` name, and `context`; what it gives is printed, or is `data` of the document with
 * -o json, which `output` describes as a JSON Schema.
 */
export function definePluginCommand<
  const A extends readonly ArgSpec[] = readonly [],
  const F extends readonly FlagSpec[] = readonly [],
>(command: CommandDeclaration<A, F, GatewayContext>): CommandSpec {
  return defineCommand<A, F, GatewayContext>(command);
}
