import type { CommandResult } from '../command.ts';
import type { CommandInput } from '../command-input.ts';
import type { CommandContext } from '../context.ts';
import { commandsModule, loadDeclared } from './declared-commands.ts';
import type { GatewayContext } from './gateway-command.ts';
import { toGatewayContext, type Printer } from './plugin-context.ts';

type Run = (input: CommandInput<[], [], GatewayContext>) => Promise<CommandResult>;

export interface DeclaredCall {
  /** Folder of the package. */
  root: string;
  /** The words that call the command. */
  name: string;
  printer: Printer;
}

/** Runs a command that a plugin declares; its printed output replaces the default text. */
export async function runDeclared(
  { root, name, printer }: DeclaredCall,
  { context, ...words }: CommandInput & { readonly context: CommandContext },
): Promise<CommandResult> {
  const path = await commandsModule(root);
  const commands = path === undefined ? [] : await loadDeclared(path);
  const found = commands.find((command) => command.name === name);
  if (found?.load === undefined) throw new Error(`it has no command "${name}" any more`);
  const { run } = await found.load();
  const result = await (run as Run)({
    ...words,
    context: toGatewayContext(context, printer.print),
  });
  await printer.done();
  return printer.printed === '' ? result : { text: '', ...result };
}
