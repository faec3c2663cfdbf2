import { format } from 'node:util';
import type { CommandContext } from '../context.ts';
import type { CommandInput, CommandResult } from '../command.ts';
import type { GatewayCommand, GatewayContext } from './gateway-command.ts';
import type { InstalledPlugin, PluginCommand } from './installed-plugin.ts';
import { linkGateway } from './link-gateway.ts';
import { packageVersion } from '../package-version.ts';
import { toPluginFailure } from './plugin-failure.ts';
import { folderOf, needPluginsFolder, packageOf } from './plugin-place.ts';
import { toOclifArgv } from './to-oclif-argv.ts';

export interface PluginCall {
  plugin: InstalledPlugin;
  /** Name of the command in @oclif/core. */
  id: string;
  spec: PluginCommand;
}

/**
 * Loads a plugin and runs one of its commands. Whatever it throws comes out as one error with the
 * name of the plugin: `plugin_failed` (exit 1), or the code and the exit that it chose.
 */
export async function runPlugin(
  { plugin, id, spec }: PluginCall,
  input: CommandInput,
): Promise<CommandResult> {
  const { context } = input;
  const printer = createPrinter(context);
  const restore = divertConsole(context);
  try {
    const command = await loadCommand({ plugin, id, argv: toOclifArgv(spec, input) }, context);
    const data = await command.runWith(toGatewayContext(context, printer.print));
    await printer.done();
    const silent = printer.used || data === undefined;
    return {
      data: data ?? null,
      ...(silent ? { text: '' } : typeof data === 'string' && { text: data }),
    };
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

interface Loaded {
  plugin: InstalledPlugin;
  id: string;
  argv: string[];
}

async function loadCommand(
  { plugin: { name }, id, argv }: Loaded,
  { io }: CommandContext,
): Promise<GatewayCommand> {
  const folder = folderOf(needPluginsFolder(io.env), name);
  await linkGateway(folder);
  const root = packageOf(folder, name);
  const { Config, Plugin } = await import('@oclif/core');
  const { GatewayCommand } = await import('./gateway-command.ts');
  const plugin = new Plugin({ name, root, type: 'user' });
  await plugin.load();
  const plugins = new Map([[name, plugin]]);
  const config = await Config.load({ root, plugins, version: packageVersion() });
  config.bin = 'gateway';
  const Found: unknown = await config.findCommand(id, { must: true }).load();
  const isOurs = (found: unknown): found is CommandClass =>
    typeof found === 'function' && found.prototype instanceof GatewayCommand;
  if (!isOurs(Found)) {
    throw new Error(
      `its command "${id}" does not extend the GatewayCommand of agent-gateway/plugin`,
    );
  }
  return new Found(argv, config);
}

type CommandClass = new (...args: ConstructorParameters<typeof GatewayCommand>) => GatewayCommand;

function toGatewayContext(context: CommandContext, print: (text: string) => void): GatewayContext {
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

/** Lines of a command, in their order, as fast as the reader takes them. */
function createPrinter({ output }: CommandContext) {
  let last = Promise.resolve();
  let used = false;
  return {
    get used() {
      return used;
    },
    print(text: string) {
      if (output.format === 'json') return;
      used = true;
      last = last.then(() => output.print(text));
    },
    done: () => last,
  };
}

/** stdout is for the result alone, so what a plugin tells the console goes to stderr. */
function divertConsole({ output }: CommandContext): () => void {
  const { log, info, debug } = globalThis.console;
  const tell = (...values: unknown[]) => output.note(format(...values));
  Object.assign(globalThis.console, { log: tell, info: tell, debug: tell });
  return () => void Object.assign(globalThis.console, { log, info, debug });
}
