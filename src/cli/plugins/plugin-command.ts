import type { ArgSpec, CommandSpec, FlagSpec } from '../command.ts';
import { defineCommand, type CommandDeclaration } from '../define-command.ts';
import type { GatewayContext } from './gateway-command.ts';

/**
 * Declares a command of a plugin as those of the binary are declared. `run` gets the values of
 * `args` and `flags`, and `context`; its result is printed, or is `data` of the document with
 * -o json, which `output` describes as a JSON Schema.
 *
 * @example
 * ```ts
 * import { defineCommand } from 'agent-gateway/plugin';
 *
 * export const count = defineCommand({
 *   name: 'count',
 *   summary: 'Count the models',
 *   examples: [{ command: 'gateway count --vendor acme', note: 'Those of one vendor' }],
 *   flags: [{ name: 'vendor', type: 'string', description: 'Begin of their names' }],
 *   output: { type: 'object', properties: { models: { type: 'integer' } } },
 *   async run({ flags: { vendor = '' }, context }) {
 *     const client = await context.connect();
 *     const all = await client.models.list({ type: '' }, context.signal);
 *     return { data: { models: all.filter(({ id }) => id.startsWith(vendor)).length } };
 *   },
 * });
 * ```
 */
export function definePluginCommand<
  const A extends readonly ArgSpec[] = readonly [],
  const F extends readonly FlagSpec[] = readonly [],
>(command: CommandDeclaration<A, F, GatewayContext>): CommandSpec {
  return defineCommand<A, F, GatewayContext>(command);
}
