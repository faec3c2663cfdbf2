import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { networkInterfaces } from 'node:os';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { hasErrors } from '../../config/source/diagnostic.ts';
import { loadConfig } from '../../config/read/load-config.ts';
import type { GatewayConfig, LoadedConfig } from '../../config/read/load-config.ts';
import { describeEnvironment, environmentConfig } from '../../config/read/environment-config.ts';
import { describeEnvFile } from '../../config/read/env-file.ts';
import { DEFAULT_CONFIG, nodeConfigFiles } from '../../config/read/load.ts';
import { resolveAllSecrets } from '../../config/read/secrets.ts';
import { systemClock } from '../../core/time/clock.ts';
import { heldOpen } from '../../core/time/held-open.ts';
import { reasonOf } from '../../core/errors.ts';
import { createLog } from '../../core/log.ts';
import type { Log, LogOptions } from '../../core/log.ts';
import { printable, printableColoured } from '../../core/printable.ts';
import { createProxyRules } from '../../upstream/proxy/proxy-rules.ts';
import { useProxiesForFetch } from '../../upstream/proxy/proxied-fetch.ts';
import { consoleUrl } from '../console/is-console-served.ts';
import { convergeConfig } from './converge-config.ts';
import { noteOutcome, removeRuntime, writeRuntime } from '../../core/process/runtime-file.ts';
import type { SignalOutcome } from '../../core/process/runtime-file.ts';
import { checkStart, explainTaken, noteNeighbour } from './check-start.ts';
import { CLIENT_KEY, firstStart } from './first-start.ts';
import { VERSION } from './gateway-version.ts';
import { listenForSignals, noteEarlySignals } from './listen-for-signals.ts';
import type { EarlySignals } from './listen-for-signals.ts';
import type { MetricsListener } from './metrics-listener.ts';
import type { Gateway } from '../compose/open-gateway.ts';
import { warnOfLoopbackProxies } from './loopback-proxies.ts';
import { checkCertificate, preflight } from './preflight.ts';
import { createReloads } from './reloads.ts';
import { reportCrashes } from './report-crashes.ts';
import type { CrashReports } from './report-crashes.ts';
import { runWorker } from './run-worker.ts';
import { openingNote } from '../http/opening-note.ts';
import { openConfigured } from './serve-gateway.ts';
import type { ServeDeps } from './serve-gateway.ts';
import { serveUntilStopped } from './serve-until-stopped.ts';
import { clientKeyNote, welcome, welcomeLines } from '../http/welcome.ts';
import { adminKeyPlace } from './admin-key-place.ts';
import { createSpeaker } from './speaker.ts';
import type { Speaker } from './speaker.ts';
import { WorkerMetrics } from './worker-metrics.ts';
import { checkScope, createWorkers } from './workers.ts';
import { boundHeap } from './heap-bounds.ts';

export interface StartOptions {
  /** None: the vendors whose keys are in the environment. */
  configPaths: readonly string[];
  host?: string | undefined;
  port?: number | undefined;
  workers?: number | undefined;
  /** Beginnings of commands that secrets may run, in place of `server.secrets.exec`. */
  allowExec?: readonly string[];
  /** Reload when a configuration file changes. */
  watch: boolean;
  /** Check the configuration and end. */
  check: boolean;
  /** Renders log lines in place of `server.log.format`. */
  renderLog?: LogOptions['render'];
  /** Runs once the gateway listens and has said so. */
  onListening?: ((served: Served) => Promise<void>) | undefined;
  env: Readonly<Record<string, string | undefined>>;
  /** A `.env` next to the configuration counts. */
  envFile: boolean;
  cwd: string;
  /** True where a person reads stderr. */
  isTerminal: boolean;
}

/** Addresses of a gateway that listens. */
export interface Served {
  /** Origin. */
  url: string;
  /** Undefined where no console is served. */
  consoleUrl: string | undefined;
  /** Configured address of the listener. */
  host: string;
}

/** Files of a start, or the text that replaces them with its description. */
interface PreparedOptions extends StartOptions {
  /** Commands that secrets may run, whatever flags and files say. */
  keptExec?: readonly string[];
  paths: readonly string[];
  text?: string;
  description?: string;
}

interface FirstInput {
  options: StartOptions;
  log: Log;
  speaker: Speaker;
  crashes: CrashReports;
  early: EarlySignals;
}

interface ServeInput extends FirstInput {
  onListening(url: string): Promise<void>;
  /** Resolves when the address is written down. */
  ready: Promise<void>;
}

/** Exit codes of the published table. */
const OK = 0;
const FAILED = 1;
const INVALID_CONFIGURATION = 3;

const sayColoured = (text: string): void => void process.stderr.write(printableColoured(text));
const say = (text: string): void => void process.stderr.write(printable(text));

/**
 * `gateway start`: runs until a signal stops it and gives the exit code. SIGTERM and SIGINT drain,
 * SIGHUP reloads, SIGUSR2 replaces the workers; a second SIGINT ends at once.
 */
export async function runStart(options: StartOptions): Promise<number> {
  const flags = [...process.execArgv, options.env['NODE_OPTIONS'] ?? ''].join(' ');
  const stopBounding = boundHeap({ flags });
  try {
    return await (cluster.isWorker ? runAsWorker(options) : runAsFirst(options));
  } finally {
    stopBounding();
  }
}

async function runAsFirst(given: StartOptions): Promise<number> {
  const early = noteEarlySignals();
  try {
    return await checkAndStart(given, early);
  } finally {
    early.take();
  }
}

async function checkAndStart(given: StartOptions, early: EarlySignals): Promise<number> {
  const options = await prepare(given);
  const { config, diagnostics } = await loadFiles(options, (line) => speaker.note(line));
  const speaker = speakerOf(config, options);
  speaker.note(options.description);
  speaker.tell(diagnostics);
  if (!config) return INVALID_CONFIGURATION;
  speaker.note(describeEnvFile(config.fromEnvFile));
  const secrets = await resolveAllSecrets(config.desired, config.sources);
  const faults = [...secrets.diagnostics, ...(await checkCertificate(config))];
  speaker.tell(faults);
  if (hasErrors(faults)) return INVALID_CONFIGURATION;
  const look = options.check ? checkStart : preflight;
  const fault = await look(config.server, config.sources).catch((error: unknown) => error);
  if (fault !== undefined) {
    speaker.fail(explainTaken(fault, config.server) ?? fault);
    return FAILED;
  }
  speaker.tell(warnOfLoopbackProxies(config.desired, createProxyRules(options.env)));
  if (options.check) {
    speaker.note('configuration is valid, and a start would succeed');
    return OK;
  }
  speaker.note(noteNeighbour(config.server.dataDir));
  speaker.note(openingNote(config.server.listen, networkInterfaces()));
  const log = logOf(config, options);
  const crashes = reportCrashes(log);
  try {
    const code = await start(config, given, { log, speaker, crashes, early });
    return crashes.isCrashed ? FAILED : code;
  } catch (error) {
    log.flush();
    speaker.fail(error);
    return FAILED;
  } finally {
    crashes.stop();
  }
}

/** Options with the gateway.yaml of the folder, or where there is none with what the environment says. */
async function prepare(options: StartOptions): Promise<PreparedOptions> {
  const { cwd, configPaths } = options;
  if (configPaths.length > 0) return { ...options, paths: configPaths };
  if (existsSync(join(cwd, DEFAULT_CONFIG))) return { ...options, paths: [DEFAULT_CONFIG] };
  const found = await environmentConfig({ ...options, files: nodeConfigFiles });
  const { text } = found;
  return { ...options, paths: ['-'], text, description: describeEnvironment(found) };
}

async function runAsWorker(options: StartOptions): Promise<number> {
  let speaker = speakerOf(undefined, options);
  const isOk = await runWorker({
    sources: { env: options.env, files: nodeConfigFiles },
    createLog(config) {
      speaker = speakerOf(config, options);
      return logOf(config);
    },
    onFailure: (error) => speaker.fail(error),
  });
  return isOk ? OK : FAILED;
}

/** A check is for people, and files that are not valid have no format of the log. */
function speakerOf(
  config: Pick<GatewayConfig, 'server'> | undefined,
  { env, check, isTerminal }: StartOptions,
): Speaker {
  const inEnvironment = env['GATEWAY_LOG_FORMAT'] === 'json' ? 'json' : 'text';
  const format = check ? 'text' : (config?.server.log.format ?? inEnvironment);
  return createSpeaker({ format, isTerminal: check || isTerminal, write: say });
}

function logOf(
  { server }: Pick<GatewayConfig, 'server'>,
  { renderLog }: Pick<StartOptions, 'renderLog'> = {},
): Log {
  const write = renderLog === undefined ? say : sayColoured;
  return createLog({ clock: systemClock, ...server.log, render: renderLog, write });
}

async function start(
  config: GatewayConfig,
  options: StartOptions,
  { log, speaker, crashes, early }: Omit<FirstInput, 'options'>,
): Promise<number> {
  const { sources } = config;
  // A first process of several would be one more of them, and the only one that nothing drains.
  const takesWork = config.server.workers === 1;
  const deps: ServeDeps = { clock: systemClock, log, sources, takesWork };
  await useProxiesForFetch(createProxyRules(options.env));
  const gateway = await openConfigured(config, deps);
  try {
    if (config.server.metrics.listen)
      crashes.onRejection(await (await import('./metrics.ts')).createRejectionCounter());
    return await startFirst(gateway, config, { options, log, speaker, crashes, early });
  } finally {
    await heldOpen(gateway.close());
  }
}

/** The only process, or the first of several: makes what the store must hold, then serves. */
async function startFirst(
  gateway: Gateway,
  config: GatewayConfig,
  first: FirstInput,
): Promise<number> {
  const { options, log, speaker } = first;
  // Refuse a store of no use to workers before anything is made in it.
  if (config.server.workers > 1) checkScope(gateway.store);
  for (const warning of gateway.store.warnings ?? []) log.warn(warning);
  const { dataDir, publicUrl } = config.server;
  const declaresKeys = config.desired.managed.has('key');
  const keepsClientKey = !speaker.isForPeople;
  const made = await firstStart(gateway.repository, config.server, {
    declaresKeys,
    keepsClientKey,
  });
  let untold = made;
  let setReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => (setReady = resolve));
  const onListening = async (url: string): Promise<void> => {
    const { watch } = options;
    const since = new Date(systemClock.now()).toISOString();
    const runtime = { url, since, version: VERSION, watch, files: followed(config.files, options) };
    await writeRuntime(dataDir, runtime).finally(setReady);
    const admin = adminKeyPlace(config, options.cwd);
    const served = { url, consoleUrl: consoleUrl(config.server, url) };
    const file = join(dataDir, CLIENT_KEY);
    const clientKeyFile = existsSync(file) ? file : undefined;
    const keys = { admin, made, clientKeyFile };
    const words = { ...served, ...keys, publicUrl, model: modelToTry(config) };
    if (speaker.isForPeople) say(welcome(words));
    else welcomeLines(words).forEach((line) => speaker.note(line));
    untold = undefined;
    await options.onListening?.({ ...served, host: config.server.listen.host });
  };
  try {
    const { diagnostics: problems } = await convergeConfig(gateway, config);
    speaker.tell(problems);
    if (hasErrors(problems)) return INVALID_CONFIGURATION;
    return await serve(gateway, config, { ...first, onListening, ready });
  } finally {
    if (untold?.clientKey !== undefined && speaker.isForPeople) say(clientKeyNote(untold));
  }
}

async function serve(
  gateway: Gateway,
  config: GatewayConfig,
  { options, log, speaker, crashes, early, onListening, ready }: ServeInput,
): Promise<number> {
  const series = config.server.workers > 1 ? new WorkerMetrics(systemClock) : undefined;
  const onFork = (worker: Worker): void => series?.watch(worker);
  const workers = series && createWorkers(config, { log, onListening, onFork });
  const note = (outcome: SignalOutcome): Promise<void> =>
    noteOutcome(config.server.dataDir, outcome, followed(files, options)).catch((error: unknown) =>
      log.warn('the outcome could not be written down', { reason: reasonOf(error) }),
    );
  let { files } = config;
  const loadAgain = async (): Promise<LoadedConfig> => {
    // The list of the start counts: nothing else that a reload reads can allow a command.
    const keptExec = config.server.secrets.exec;
    const prepared = { ...(await prepare(options)), keptExec };
    const loaded = await loadFiles(prepared, (line) => log.info(line));
    if (!loaded.config) return loaded;
    signals.follow(readFrom(loaded.config));
    if (files.includes('stdin') && loaded.config.files.includes(DEFAULT_CONFIG))
      log.info(`${DEFAULT_CONFIG} is there now and is served in place of the environment`);
    ({ files } = loaded.config);
    return loaded;
  };
  const signals = listenForSignals({
    ...createReloads(gateway, config, { load: loadAgain, tell: speaker.tell, log, workers }),
    clock: systemClock,
    note,
    log,
    watched: options.watch ? readFrom(config) : undefined,
    cwd: options.cwd,
    early: early.take(),
    ready,
  });
  let metrics: MetricsListener | undefined;
  try {
    metrics = await openMetrics(config, series);
    if (metrics) speaker.note(`metrics on ${metrics.url}`);
    if (workers) return await workers.run();
    const crashed = crashes.untilCrashed();
    await serveUntilStopped(gateway, config.server, { log, onListening, crashed });
    return OK;
  } finally {
    signals.stop();
    metrics?.close();
    // The next one would find the address of a process that is gone.
    await removeRuntime(config.server.dataDir).catch(() => undefined);
    log.flush();
  }
}

/** Absolute paths; none for the configuration of the environment. */
const followed = (files: readonly string[], { cwd }: StartOptions): string[] =>
  files.filter((file) => file !== 'stdin').map((file) => resolve(cwd, file));

/** What a change of is a reload: without a file, also the one that may come. */
function readFrom({ files, included, fromEnvFile: { path } }: GatewayConfig): string[] {
  const named = files.map((file) => (file === 'stdin' ? DEFAULT_CONFIG : file));
  return [...named, ...included, ...(path === undefined ? [] : [path])];
}

function loadFiles(options: PreparedOptions, note: (line: string) => void): Promise<LoadedConfig> {
  const { host, port, workers, allowExec = [] } = options;
  const exec = options.keptExec ?? (allowExec.length > 0 ? allowExec : undefined);
  return loadConfig({
    paths: options.paths,
    ...(options.text !== undefined && { stdin: options.text }),
    env: options.env,
    envFile: options.envFile,
    cwd: options.cwd,
    hasStore: true,
    flags: {
      ...(host === undefined ? {} : { 'listen.host': host }),
      ...(port === undefined ? {} : { 'listen.port': port }),
      ...(workers === undefined ? {} : { workers }),
      ...(exec && { 'secrets.exec': exec }),
    },
    commands: { isOwnFile: true, note },
  });
}

async function openMetrics(
  { server }: GatewayConfig,
  ofWorkers: WorkerMetrics | undefined,
): Promise<MetricsListener | undefined> {
  const { listen } = server.metrics;
  if (!listen) return undefined;
  const { listenForMetrics } = await import('./metrics-listener.ts');
  const { metricsText } = await import('./metrics.ts');
  return listenForMetrics(listen, () => ofWorkers?.text() ?? metricsText());
}

/** One whose name needs no quoting in the lines to paste. */
function modelToTry(config: GatewayConfig): string | undefined {
  return config.desired.objects.find(
    ({ kind, name, body }) =>
      kind === 'model' &&
      /^[\w./:@+-]+$/.test(name) &&
      (body['type'] ?? 'llm') === 'llm' &&
      body['enabled'] !== false,
  )?.name;
}
