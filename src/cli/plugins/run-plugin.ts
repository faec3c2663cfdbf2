import { format } from 'node:util';
import type { Config } from '@oclif/core';
import type { CommandContext } from '../context.ts';
import type { CommandResult } from '../command.ts';
import type { CommandInput } from '../command-input.ts';
import type { GatewayCommand } from './gateway-command.ts';
import type { InstalledPlugin, PluginCommand } from './installed-plugin.ts';
import { linkGateway } from './link-gateway.ts';
import { packageVersion } from '../package-version.ts';
import { createPrinter, toGatewayContext, type Printer } from './plugin-context.ts';
import { toPluginFailure } from './plugin-failure.ts';
import { folderOf, needPluginsFolder, packageOf } from './plugin-place.ts';
import { runDeclared } from './run-declared.ts';

export interface PluginCall {
  plugin: InstalledPlugin;
  spec: PluginCommand;
}

/**
 * Loads a plugin and runs one of its commands. Whatever it throws comes out as one error with the
 * name of the plugin: `plugin_failed` (exit 1), or the code and the exit that it chose.
 */
export async function runPlugin(
  { plugin, spec }: PluginCall,
  input: CommandInput,
): Promise<CommandResult> {
  const { context } = input;
  const printer = createPrinter(context);
  const console = { tell: (text: string) => context.output.note(text) };
  const restore = divertConsole((text) => console.tell(text));
  try {
    const { id, name } = spec;
    const root = await rootOf(plugin, context);
    if (id === undefined) return await runDeclared({ root, name, printer }, input);
    return await runOclif({ plugin, id, spec, root, printer, console }, input);
  } catch (thrown) {
    await printer.done();
    const failure = toPluginFailure(plugin.name, thrown);
    if (failure === undefined) return { data: null, text: '' };
    if (thrown instanceof Error) context.output.debug(thrown.stack ?? thrown.message);
    throw failure;
  } finally {
    restore();
  }
}

interface OclifCall extends PluginCall {
  /** Name of the command in @oclif/core. */
  id: string;
  /** Folder of the package. */
  root: string;
  printer: Printer;
  /** Receives the console output of the plugin. */
  console: { tell: (text: string) => void };
}

/** Runs a class of @oclif/core, with the hooks of its plugin around it. */
async function runOclif(
  { plugin, id, spec, root, printer, console }: OclifCall,
  input: CommandInput,
): Promise<CommandResult> {
  const argv = toOclifArgv(spec, input);
  const config = await loadConfig(plugin, root);
  const Found = await config.findCommand(id, { must: true }).load();
  const { GatewayCommand } = await import('./gateway-command.ts');
  const isOurs = Found.prototype instanceof GatewayCommand;
  // Commands of oclif have no other way to print their result.
  if (!isOurs) console.tell = (text) => printer.print(`${text}\n`);
  await config.runHook('init', { id, argv });
  await config.runHook('prerun', { Command: Found, argv });
  const result = isOurs
    ? await new (Found as unknown as Ours)(argv, config).runWith(
        toGatewayContext(input.context, printer.print),
      )
    : await Found.run(argv, config);
  await config.runHook('postrun', { Command: Found, argv, result });
  await printer.done();
  return toResult(result, { isOurs, printed: printer.printed });
}

/** Lines that a command printed are its result where it gives none of its own. */
function toResult(
  result: unknown,
  { isOurs, printed }: { isOurs: boolean; printed: string },
): CommandResult {
  const data = result ?? (isOurs || printed === '' ? null : printed.trimEnd());
  if (printed !== '' || result === undefined) return { data, text: '' };
  return typeof result === 'string' ? { data, text: result } : { data };
}

/** Folder of the package, in which `agent-gateway` is this one. */
async function rootOf({ name }: InstalledPlugin, { io }: CommandContext): Promise<string> {
  const folder = folderOf(needPluginsFolder(io.env), name);
  await linkGateway(folder);
  return packageOf(folder, name);
}

async function loadConfig({ name }: InstalledPlugin, root: string): Promise<Config> {
  const { Config, Plugin } = await import('@oclif/core');
  const plugin = new Plugin({ name, root, type: 'user' });
  await plugin.load();
  // The plugin has it, too, so that a command built with another version of oclif finds it.
  Object.assign(plugin.pjson.oclif, { bin: 'gateway', topicSeparator: ' ' });
  return Config.load({ root, plugins: new Map([[name, plugin]]), version: packageVersion() });
}

type Ours = new (...args: ConstructorParameters<typeof GatewayCommand>) => GatewayCommand;

/** Keeps stdout for the result: redirects console output of the plugin to `tell`. */
function divertConsole(tell: (text: string) => void): () => void {
  const { log, info, debug } = globalThis.console;
  const divert = (...values: unknown[]) => tell(format(...values));
  Object.assign(globalThis.console, { log: divert, info: divert, debug: divert });
  return () => void Object.assign(globalThis.console, { log, info, debug });
}

/** The command line as @oclif/core reads it, without the global flags and with all values attached. */
function toOclifArgv(
  { flags: specs = [], args: names = [] }: PluginCommand,
  { args, rest, flags }: Pick<CommandInput, 'args' | 'rest' | 'flags'>,
): string[] {
  const words = specs.flatMap(({ name }) => {
    const value = flags[name];
    if (typeof value === 'boolean') return value ? [`--${name}`] : [];
    return [value ?? []].flat().map((one) => `--${name}=${one}`);
  });
  const values = names.flatMap(({ name, variadic }) => (variadic ? rest : (args[name] ?? [])));
  // No word after the dashes is a flag, whatever it begins with.
  return [...words, '--', ...values];
}
