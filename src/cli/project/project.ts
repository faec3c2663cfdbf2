import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { formatDiagnostics, type Diagnostic } from '../../config/source/diagnostic.ts';
import {
  loadConfig,
  type GatewayConfig,
  type LoadConfigOptions,
  type LoadedConfig,
} from '../../config/read/load-config.ts';
import type { DesiredState } from '../../config/objects/desired.ts';
import { describeEnvFile } from '../../config/read/env-file.ts';
import { DEFAULT_CONFIG } from '../../config/read/load.ts';
import { select, SelectionError, type SelectionWords } from '../../config/plan/selection.ts';
import { suggest } from '../../core/suggest.ts';
import { shippedPrices } from '../../usage/prices/live-prices.ts';
import { CliError, usageError } from '../cli-error.ts';
import { EXIT } from '../exit-codes.ts';
import type { CommandResult } from '../command.ts';
import type { FlagInput } from '../command-input.ts';
import type { CommandContext } from '../context.ts';
import type { FlagValues } from '../grammar/flags.ts';
import type { FILE, PROJECT, SELECT } from '../tables/config-words.ts';
import type { ALLOW_EXEC } from '../tables/shared-words.ts';

/** Input of a command on the files of a project. */
export type ProjectInput = FlagInput<typeof PROJECT>;

/** The same, for a command that may run those of secrets. */
interface ResolvingInput extends ProjectInput {
  readonly flags: ProjectInput['flags'] & Partial<FlagValues<readonly [typeof ALLOW_EXEC]>>;
}

/**
 * Paths that were named, else gateway.yaml of `cwd`; throws `no_configuration` (exit 3) when there
 * is none.
 */
export function configPaths(given: readonly string[], cwd: string): readonly string[] {
  if (given.length > 0) return given;
  if (existsSync(join(cwd, DEFAULT_CONFIG))) return [DEFAULT_CONFIG];
  throw new CliError({
    code: 'no_configuration',
    message: `there is no ${DEFAULT_CONFIG} in ${cwd}`,
    hint: '`gateway init` writes one that runs offline',
    exit: 'invalid_config',
  });
}

/** The same, but none without a gateway.yaml: then the environment decides. */
export function startPaths(given: readonly string[], cwd: string): readonly string[] {
  const isEmpty = given.length === 0 && !existsSync(join(cwd, DEFAULT_CONFIG));
  return isEmpty ? [] : configPaths(given, cwd);
}

/**
 * Loads what -f names, or gateway.yaml, with what --overlay names laid over it; `-` is stdin. Routes are
 * looked at for their prices where these are given.
 */
export async function loadProject(
  { flags, context }: ResolvingInput,
  { commands, ...more }: Pick<ProjectOptions, 'prices' | 'commands' | 'hasStore'> = {},
): Promise<LoadedConfig> {
  const paths = configPaths(flags.file, context.io.cwd);
  return loadFiles(context, {
    paths,
    recursive: flags.recursive,
    overlays: flags.overlay,
    unknownFields: flags['unknown-fields'],
    ...(paths.includes('-') && { stdin: await context.readStdin() }),
    limits: { now: context.clock.now(), load: shippedPrices },
    ...more,
    ...(commands && { commands: { ...commands, allowed: flags['allow-exec'] } }),
  });
}

/** Files to read, and the commands of secrets that may run. */
interface ProjectOptions extends Omit<LoadConfigOptions, 'env' | 'cwd' | 'envFile' | 'commands'> {
  commands?: {
    /** True where these files are those of a gateway of this machine. */
    isOwnFile: boolean;
    /** Those that --allow-exec names. */
    allowed?: readonly string[] | undefined;
  };
}

/**
 * Loads files with the `.env` next to them, unless --no-env-file is given; a line on stderr names the
 * variables taken.
 */
export async function loadFiles(
  { io, globals, output }: Pick<CommandContext, 'io' | 'globals' | 'output'>,
  { commands, ...options }: ProjectOptions,
): Promise<LoadedConfig> {
  const { cwd, env } = io;
  const allowed = commands?.allowed ?? [];
  const loaded = await loadConfig({
    hasStore: true,
    ...options,
    ...(commands && { commands: { ...commands, note: output.note } }),
    ...(allowed.length > 0 && { flags: { 'secrets.exec': allowed } }),
    cwd,
    env,
    envFile: readsEnvFile(globals),
  });
  const taken = loaded.config && describeEnvFile(loaded.config.fromEnvFile);
  if (taken !== undefined) output.note(taken);
  return loaded;
}

/** False with --no-env-file. */
export function readsEnvFile({ values }: CommandContext['globals']): boolean {
  return !values['no-env-file'];
}

/**
 * Runs `use` on a valid project and shows its warnings; an invalid one is the result (exit 3), and
 * so is one that declares nothing, as a template that rendered to nothing.
 */
export async function withProject(
  input: ResolvingInput,
  use: (config: GatewayConfig) => Promise<CommandResult>,
): Promise<CommandResult> {
  // The author of the files, who may only propose a change, must not choose what runs here.
  const { config, diagnostics } = await loadProject(input, { commands: { isOwnFile: false } });
  if (config === undefined) return invalidConfig(diagnostics);
  for (const one of diagnostics) {
    const text = formatDiagnostics([one], 'text').replace(': warning: ', ': ');
    input.context.output.warn(text);
  }
  return config.isEmpty ? invalidConfig(config.files.map(toNothing)) : use(config);
}

/**
 * Does as {@link withProject} with the objects that --only, --exclude and --selector choose (exit
 * 64 for a bad one). `mayBeGone`: --only may name an object that is to be pruned, and so is not
 * declared any more.
 */
export function withSelected(
  input: ResolvingInput & FlagInput<readonly [...typeof PROJECT, ...typeof SELECT]>,
  use: (config: GatewayConfig) => Promise<CommandResult>,
  { mayBeGone = false } = {},
): Promise<CommandResult> {
  const { flags } = input;
  return withProject(input, (config) => {
    const words = {
      only: flags.only,
      exclude: flags.exclude,
      labels: flags.selector,
    };
    const desired = chosen(config, words);
    const [unused] = desired.selection?.unused ?? [];
    if (unused === undefined || mayBeGone) return use({ ...config, desired });
    const names = config.desired.objects.map(({ kind, identity }) => `${kind}/${identity}`);
    throw usageError(`--only ${unused}: the files declare no such object`, suggest(unused, names));
  });
}

function chosen({ desired }: GatewayConfig, words: SelectionWords): DesiredState {
  try {
    return select(desired, words);
  } catch (thrown) {
    if (thrown instanceof SelectionError) throw usageError(thrown.message);
    throw thrown;
  }
}

function toNothing(file: string): Diagnostic {
  return {
    file,
    line: 1,
    column: 1,
    path: '',
    severity: 'error',
    message: 'nothing is declared here',
    hint: 'declare at least one section; `models: []` declares that there are no models',
  };
}

/** Every problem at once, on stderr since the command has no result; exit 3. */
export function invalidConfig(diagnostics: readonly Diagnostic[]): CommandResult {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  return {
    data: { diagnostics },
    text: '',
    failure: {
      code: 'invalid_config',
      message: `the configuration has ${errors} ${errors === 1 ? 'error' : 'errors'}`,
      details: formatDiagnostics(diagnostics, 'text'),
      exitCode: EXIT.invalid_config.code,
    },
  };
}

/** The file that decides where `.gateway` is looked for. */
export function projectFile({
  flags,
}: Pick<FlagInput<readonly [typeof FILE]>, 'flags'>): string | undefined {
  return flags.file.find((path) => path !== '-');
}
