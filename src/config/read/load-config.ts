import { findUnpriced, type PublishedPrices, type UnpricedRoute } from './check-prices.ts';
import { checkPrograms } from './check-programs.ts';
import { acceptAgentNames } from './accept-agent-names.ts';
import { checkAliases } from './check-aliases.ts';
import { checkBudgets } from './check-budgets.ts';
import { checkLimits } from './check-limits.ts';
import { checkReferences } from './check-references.ts';
import { checkSecrets } from './check-secrets.ts';
import { type EnvFileUse, isOfSystem, readEnvFile, unusedInEnvFile, useOf } from './env-file.ts';
import { type DesiredState, toDesired } from '../objects/desired.ts';
import { type Diagnostic, hasErrors, type Place, sortDiagnostics } from '../source/diagnostic.ts';
import { type ConfigFiles, type ConfigSource, nodeConfigFiles, readSources } from './load.ts';
import type { ReferenceSources } from '../objects/references.ts';
import { createSecretCommands, type SecretCommandsOptions } from '../objects/secret-commands.ts';
import { createPlaces, type Places } from '../source/locate.ts';
import { listEntries } from './list-entries.ts';
import { mergeDocuments } from './merge.ts';
import { layOver } from './overlay.ts';
import { operatorNames } from '../schema/operator-names.ts';
import { nameSections, nameWords } from './section-names.ts';
import { parseYaml } from '../source/parse-yaml.ts';
import { isRecord } from '../objects/record.ts';
import { resolveDocument } from './resolve.ts';
import { checkSections } from '../schema/schema.ts';
import {
  resolveServerConfig,
  type ResolvedServer,
  type ServerConfig,
  serverSettings,
  type SettingOrigin,
} from '../schema/server-config.ts';

/** Files to read, and what their references resolve to. */
export interface LoadConfigOptions {
  /** Files, directories, `-` (see `readSources`). */
  paths: readonly string[];
  stdin?: string;
  /** True: directories below directories, too. Default false. */
  recursive?: boolean;
  /** Files and directories that are laid over what `paths` say, in this order (see `layOver`). */
  overlays?: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
  /** True: a `.env` next to the first path counts for references and settings. Default false. */
  envFile?: boolean;
  /** Settings of the `server` section by path (`listen.port`), as given on the command line. */
  flags?: Readonly<Record<string, unknown>>;
  /** Default `error`. */
  unknownFields?: 'error' | 'warn';
  cwd: string;
  /** Default: the real file system. */
  files?: ConfigFiles;
  /** True: models of Agents may be in a store, too, so that a missing one is a warning. Default false. */
  hasStore?: boolean;
  /** Default: no route is looked at for its price. */
  prices?: PublishedPrices;
  /** Prices by which limits of money are judged. Default: none is. */
  limits?: PublishedPrices;
  /** Has secrets run the commands that are allowed. Default: none runs. */
  commands?: Pick<SecretCommandsOptions, 'isOwnFile' | 'note'>;
}

/** A valid configuration: settings of the process and declared objects. */
export interface GatewayConfig {
  readonly server: ServerConfig;
  /** Origin of each server setting; an absent one is a default. */
  readonly origins: ReadonlyMap<string, SettingOrigin>;
  /** Positions of the files in `server.listen.tls`, or of the nearest known value. */
  readonly certificatePlaces: { readonly cert: Place; readonly key: Place };
  readonly desired: DesiredState;
  /** True when the files hold nothing but `version` and `namespace`. */
  readonly isEmpty: boolean;
  /** Every file of configuration that was read, as given. */
  readonly files: readonly string[];
  /** Absolute paths of the files that they refer to: `${file:…}`, `${secret:file:…}`. */
  readonly included: readonly string[];
  /** Sources of the secrets that are still references. */
  readonly sources: ReferenceSources;
  /** Variables that only the `.env` sets, of those that references and settings use. */
  readonly fromEnvFile: EnvFileUse;
  /** Declared routes and APIs without a known price; empty where no prices are given to judge by. */
  readonly unpriced: readonly UnpricedRoute[];
}

/** Configuration, or its problems. */
export interface LoadedConfig {
  /** Undefined when any diagnostic is an error. */
  readonly config: GatewayConfig | undefined;
  /** Folder of the data, also where something else is wrong; absent where the server section is. */
  readonly dataDir?: string;
  /** Findings in the order of files and lines. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Sections that declare nothing by themselves. */
const EMPTY_SECTIONS: ReadonlySet<string> = new Set(['version', 'namespace']);

/**
 * Loads, resolves and validates the configuration without network: every problem at once, each with
 * its file, line and column. Secrets stay references. Touches nothing but `files`.
 *
 * @example
 * ```ts
 * import { loadConfig } from 'agent-gateway';
 *
 * const { config, diagnostics } = await loadConfig({
 *   paths: ['gateway.yaml'],
 *   overlays: ['overlays/production'],
 *   env: process.env,
 *   cwd: process.cwd(),
 * });
 * if (!config) process.exitCode = diagnostics.length > 0 ? 3 : 1;
 * ```
 */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const files = options.files ?? nodeConfigFiles;
  const unknownFields = options.unknownFields ?? 'error';
  const places = createPlaces();
  const envFile = await readEnvFile({ ...options, files });
  const env = { ...options.env, ...envFile.values };
  const sources: ReferenceSources = unwritten({ env, files, envFile: envFile.path });
  const { tree, all, ...merged } = await readTree({ ...options, sources, places });
  const diagnostics = [...envFile.diagnostics, ...merged.diagnostics];
  acceptAgentNames(tree);
  const server = resolveServerConfig({
    file: { root: tree, places },
    directory: baseDirectory(all[0].sources, places.find(tree, ['server']), options.cwd),
    env,
    ...(options.flags && { flags: options.flags }),
    unknownFields,
  });
  const sections = checkSections(tree, { places, unknownFields });
  const judged = [
    ...server.diagnostics,
    ...sections.diagnostics,
    ...checkReferences(tree, places, options),
    ...checkAliases(tree, places),
    ...checkBudgets(tree, places),
  ];
  diagnostics.push(
    ...withoutPlaces(judged, new Set(all.flatMap(({ unresolved }) => unresolved.map(placeOf)))),
    ...checkSecrets(tree, places),
    ...(server.config
      ? checkPrograms(tree, { places, operator: operatorNames(server.config) })
      : []),
  );
  const used = usedVariables(all, server.origins);
  diagnostics.push(...unusedInEnvFile(envFile, used));
  const sorted = withoutRepeats(sortDiagnostics(diagnostics));
  if (hasErrors(sorted) || server.config === undefined) {
    const { dataDir } = server.config ?? {};
    return { config: undefined, ...(dataDir !== undefined && { dataDir }), diagnostics: sorted };
  }
  const allowed = allowedCommands(server, options);
  if (allowed) sources.commands = createSecretCommands({ ...allowed, isHidden: isKept(used) });
  const small = await smallLimits({ tree, places, server: server.config }, options);
  return {
    dataDir: server.config.dataDir,
    config: {
      server: server.config,
      origins: server.origins,
      certificatePlaces: certificatePlaces(tree, places),
      desired: toDesired(sections.tree, (path) => places.find(tree, path)),
      isEmpty: Object.keys(tree).every((name) => EMPTY_SECTIONS.has(name)),
      files: all.flatMap(({ sources }) => sources.map(({ file }) => file)),
      included: [...new Set(all.flatMap((one) => one.included))],
      sources,
      fromEnvFile: unwritten(useOf(envFile, used)),
      unpriced: options.prices ? await findUnpriced(tree, places, options.prices) : [],
    },
    diagnostics: sortDiagnostics([...sorted, ...small]),
  };
}

/** Commands that secrets may run; those of the file only where it is the operator's own. */
function allowedCommands(
  { config, origins }: ResolvedServer,
  { commands, env }: LoadConfigOptions,
): Omit<SecretCommandsOptions, 'isHidden'> | undefined {
  const origin = origins.get('secrets.exec');
  const counts = commands?.isOwnFile || origin === 'flag' || origin === 'env';
  return commands && { ...commands, env, allowed: counts ? (config?.secrets.exec ?? []) : [] };
}

/** What the gateway keeps in its environment for itself. */
function isKept(used: ReadonlySet<string>): SecretCommandsOptions['isHidden'] {
  return (name) => name.startsWith('GATEWAY_') || (used.has(name) && !isOfSystem(name));
}

/** Warnings of limits that cannot pay for one call, where there are prices to judge them by. */
async function smallLimits(
  {
    tree,
    places,
    server,
  }: { tree: Readonly<Record<string, unknown>>; places: Places; server: ServerConfig },
  { limits: prices }: LoadConfigOptions,
): Promise<Diagnostic[]> {
  if (!prices) return [];
  return checkLimits(tree, places, { prices, usual: server.limits.outputTokensBound });
}

/** Reads the files and lays the overlays over them; `all` begins with the documents of the files. */
async function readTree(
  options: LoadConfigOptions & { sources: ReferenceSources; places: Places },
) {
  const { places } = options;
  const read = await readDocuments(options.paths, options);
  const overlays: ReadDocuments[] = [];
  for (const path of options.overlays ?? []) overlays.push(await readDocuments([path], options));
  const all = [read, ...overlays] as const;
  const diagnostics = all.flatMap((one) => one.diagnostics);
  const { tree, diagnostics: merging } = mergeDocuments(read.values, places);
  const [first] = all.flatMap(({ sources }) => sources);
  if (read.values.length === 0 && first !== undefined) {
    places.markContainer(tree, { file: first.file, line: 1, column: 1 });
  }
  for (const value of overlays.flatMap((one) => one.values)) {
    diagnostics.push(...layOver(tree, value, places));
  }
  return { tree, all, diagnostics: [...diagnostics, ...merging] };
}

/** Variables that references name and that give settings. */
function usedVariables(
  all: readonly ReadDocuments[],
  origins: ResolvedServer['origins'],
): ReadonlySet<string> {
  const settings = serverSettings().filter(({ path }) => origins.get(path) === 'env');
  return new Set([...all.flatMap(({ variables }) => variables), ...settings.map(({ env }) => env)]);
}

function certificatePlaces(tree: unknown, places: Places): GatewayConfig['certificatePlaces'] {
  const tls = ['server', 'listen', 'tls'];
  return { cert: places.find(tree, [...tls, 'cert']), key: places.find(tree, [...tls, 'key']) };
}

interface ReadDocuments {
  readonly sources: readonly ConfigSource[];
  /** One for each YAML document, references replaced. */
  readonly values: readonly Readonly<Record<string, unknown>>[];
  readonly included: readonly string[];
  readonly variables: readonly string[];
  /** Problems of unresolved references; they are among the diagnostics. */
  readonly unresolved: readonly Diagnostic[];
  readonly diagnostics: readonly Diagnostic[];
}

async function readDocuments(
  paths: readonly string[],
  options: LoadConfigOptions & { sources: ReferenceSources; places: Places },
): Promise<ReadDocuments> {
  const { sources, places } = options;
  const read = await readSources({ ...options, files: sources.files, paths });
  const diagnostics = [...read.diagnostics];
  const unresolved: Diagnostic[] = [];
  const values: Record<string, unknown>[] = [];
  const included: string[] = [];
  const variables: string[] = [];
  for (const source of read.sources) {
    const parsed = parseYaml(source, places);
    diagnostics.push(...parsed.diagnostics);
    for (const document of parsed.documents) {
      if (!isRecord(document.value)) {
        const message = 'expected a mapping with version, server, providers, models and so on';
        diagnostics.push({ ...document.place, path: '', severity: 'error', message });
        continue;
      }
      dropExtensions(document.value);
      diagnostics.push(...nameSections(document.value, places));
      const resolved = await resolveDocument(document, { places, sources });
      diagnostics.push(...resolved.diagnostics);
      unresolved.push(...resolved.diagnostics);
      included.push(...resolved.included);
      variables.push(...resolved.variables);
      listEntries(document.value, places);
      nameWords(document.value);
      values.push(document.value);
    }
  }
  return { sources: read.sources, values, included, variables, unresolved, diagnostics };
}

/** Sections `x-…` are the author's own, for anchors: nothing in them is judged. */
function dropExtensions(document: Record<string, unknown>): void {
  for (const name of Object.keys(document)) if (name.startsWith('x-')) delete document[name];
}

/** Relative paths start at the file that has the `server` section, else at the first file. */
function baseDirectory(sources: readonly ConfigSource[], place: Place, cwd: string): string {
  const source = sources.find(({ file }) => file === place.file) ?? sources[0];
  return source?.directory ?? cwd;
}

/** Leaves out problems of a value whose only cause is an unresolved reference. */
function withoutPlaces(
  diagnostics: readonly Diagnostic[],
  places: ReadonlySet<string>,
): Diagnostic[] {
  return diagnostics.filter((diagnostic) => !places.has(placeOf(diagnostic)));
}

function placeOf({ file, line, column }: Place): string {
  return `${file}:${line}:${column}`;
}

/** One message at one position is one problem, whichever checks saw it. */
function withoutRepeats(diagnostics: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter(({ file, line, column, message }) => {
    const key = `${placeOf({ file, line, column })}:${message}`;
    return !seen.has(key) && seen.add(key);
  });
}

/** Keeps values of variables out of the JSON of a configuration. */
function unwritten<T extends object>(value: T): T {
  return Object.defineProperty(value, 'toJSON', { value: () => undefined });
}
