import cluster from 'node:cluster';
import type { Worker } from 'node:cluster';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { formatDiagnostics, hasErrors } from '../../config/source/diagnostic.ts';
import type { Diagnostic } from '../../config/source/diagnostic.ts';
import { loadConfig } from '../../config/read/load-config.ts';
import type { GatewayConfig } from '../../config/read/load-config.ts';
import { describeEnvironment, environmentConfig } from '../../config/read/environment-config.ts';
import { nodeConfigFiles } from '../../config/read/load.ts';
import { resolveAllSecrets } from '../../config/read/secrets.ts';
import type { ReferenceSources } from '../../config/objects/references.ts';
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
import { firstStart, noteOutcome, writeRuntime } from './first-start.ts';
import type { SignalOutcome } from './first-start.ts';
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
import { clientKeyNote, welcome } from '../http/welcome.ts';
import { WorkerMetrics } from './worker-metrics.ts';
import { checkScope, createWorkers } from './workers.ts';
import { boundHeap } from './heap-bounds.ts';

export interface StartOptions {
  /** None: the vendors whose keys are in the environment. */
  configPaths: readonly string[];
  host?: string | undefined;
  port?: number | undefined;
  workers?: number | undefined;
  /** Reload when a configuration file changes. */
  watch: boolean;
  /** Check the configuration and end. */
  check: boolean;
  /** Renders log lines in place of `server.log.format`. */
  renderLog?: LogOptions['render'];
  /** Runs once the gateway listens and has said so. */
  onListening?: ((served: Served) => Promise<void>) | undefined;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
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

/** Options with the text that replaces a file. */
interface PreparedOptions extends StartOptions {
  text?: string;
}

interface FirstInput {
  options: StartOptions;
  log: Log;
  crashes: CrashReports;
  early: EarlySignals;
  sources: ReferenceSources;
}

interface ServeInput extends Omit<FirstInput, 'sources'> {
  onListening(url: string): Promise<void>;
  /** Resolves when the address is written down. */
  ready: Promise<void>;
}

/** Exit codes of the published table. */
const OK = 0;
const FAILED = 1;
const INVALID_CONFIGURATION = 3;

const DEFAULT_PORT = 8787;

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
  const config = await load(options);
  if (!config || !(await passesSecrets(config, options))) return INVALID_CONFIGURATION;
  const faults = await checkCertificate(config);
  tell(faults);
  if (hasErrors(faults)) return INVALID_CONFIGURATION;
  const fault = await preflight(config.server, sourcesOf(options)).catch((error: unknown) => error);
  if (fault !== undefined) {
    tellFailure(fault);
    return FAILED;
  }
  tell(warnOfLoopbackProxies(config.desired, createProxyRules(options.env)));
  if (options.check) {
    say('configuration is valid\n');
    return OK;
  }
  const note = openingNote(config.server.listen, networkInterfaces());
  if (note !== undefined) say(note);
  const log = logOf(config, options);
  const crashes = reportCrashes(log);
  try {
    const code = await start(config, options, { log, crashes, early });
    return crashes.isCrashed ? FAILED : code;
  } catch (error) {
    log.flush();
    tellFailure(error);
    return FAILED;
  } finally {
    crashes.stop();
  }
}

/** Options with the configuration of the environment where there is no file. */
async function prepare(options: StartOptions): Promise<PreparedOptions> {
  if (options.configPaths.length > 0) return options;
  const { cwd, port } = options;
  const ownPort = port ?? (Number(options.env['GATEWAY_PORT']) || DEFAULT_PORT);
  const files = nodeConfigFiles;
  const found = await environmentConfig({ env: options.env, cwd, files }, ownPort);
  say(describeEnvironment(found));
  return { ...options, configPaths: ['-'], env: found.env, text: found.text, watch: false };
}

async function passesSecrets(config: GatewayConfig, options: StartOptions): Promise<boolean> {
  const { diagnostics } = await resolveAllSecrets(config.desired, sourcesOf(options));
  tell(diagnostics);
  return !hasErrors(diagnostics);
}

function sourcesOf({ env }: Pick<StartOptions, 'env'>): ReferenceSources {
  return { env, files: nodeConfigFiles };
}

async function runAsWorker({ env }: StartOptions): Promise<number> {
  const sources = sourcesOf({ env });
  const isOk = await runWorker({
    sources,
    createLog: (config) => logOf(config),
    onFailure: tellFailure,
  });
  return isOk ? OK : FAILED;
}

function logOf(
  { server }: Pick<GatewayConfig, 'server'>,
  { renderLog }: Pick<StartOptions, 'renderLog'> = {},
): Log {
  const write = renderLog === undefined ? say : sayColoured;
  return createLog({ clock: systemClock, ...server.log, render: renderLog, write });
}

function tellFailure(error: unknown): void {
  say(`gateway: ${reasonOf(error)}\n`);
}

async function start(
  config: GatewayConfig,
  options: StartOptions,
  { log, crashes, early }: Pick<FirstInput, 'log' | 'crashes' | 'early'>,
): Promise<number> {
  const sources = sourcesOf(options);
  // A first process of several would be one more of them, and the only one that nothing drains.
  const takesWork = config.server.workers === 1;
  const deps: ServeDeps = { clock: systemClock, log, sources, takesWork };
  await useProxiesForFetch(createProxyRules(options.env));
  const gateway = await openConfigured(config, deps);
  try {
    if (config.server.metrics.listen)
      crashes.onRejection(await (await import('./metrics.ts')).createRejectionCounter());
    return await startFirst(gateway, config, { options, log, crashes, early, sources });
  } finally {
    await heldOpen(gateway.close());
  }
}

/** The only process, or the first of several: makes what the store must hold, then serves. */
async function startFirst(
  gateway: Gateway,
  config: GatewayConfig,
  { options, log, crashes, early, sources }: FirstInput,
): Promise<number> {
  // Refuse a store of no use to workers before anything is made in it.
  if (config.server.workers > 1) checkScope(gateway.store);
  for (const warning of gateway.store.warnings ?? []) log.warn(warning);
  const { dataDir, publicUrl } = config.server;
  const declaresKeys = config.desired.managed.has('key');
  const made = await firstStart(gateway.repository, config.server, { declaresKeys });
  let untold = made;
  let setReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => (setReady = resolve));
  const onListening = async (url: string): Promise<void> => {
    await writeRuntime(dataDir, url).finally(setReady);
    const adminKeyFile = join(dataDir, 'admin.key');
    const served = { url, consoleUrl: consoleUrl(config.server, url) };
    say(welcome({ ...served, publicUrl, adminKeyFile, made, model: modelToTry(config) }));
    untold = undefined;
    await options.onListening?.({ ...served, host: config.server.listen.host });
  };
  try {
    const problems = await convergeConfig(gateway, config, sources);
    tell(problems);
    if (hasErrors(problems)) return INVALID_CONFIGURATION;
    return await serve(gateway, config, { options, log, crashes, early, onListening, ready });
  } finally {
    if (untold?.clientKey !== undefined) say(clientKeyNote(untold));
  }
}

async function serve(
  gateway: Gateway,
  config: GatewayConfig,
  { options, log, crashes, early, onListening, ready }: ServeInput,
): Promise<number> {
  const series = config.server.workers > 1 ? new WorkerMetrics(systemClock) : undefined;
  const onFork = (worker: Worker): void => series?.watch(worker);
  const workers = series && createWorkers(config, { log, onListening, onFork });
  const note = (outcome: SignalOutcome): Promise<void> =>
    noteOutcome(config.server.dataDir, outcome).catch((error: unknown) =>
      log.warn('the outcome could not be written down', { reason: reasonOf(error) }),
    );
  const sources = { env: options.env, files: nodeConfigFiles };
  const loadAgain = async (): Promise<GatewayConfig | undefined> => {
    const loaded = await load(options);
    if (loaded) signals.follow(readFrom(loaded));
    return loaded;
  };
  const signals = listenForSignals({
    ...createReloads(gateway, config, { load: loadAgain, sources, tell, log, workers }),
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
    if (workers) return await workers.run();
    const crashed = crashes.untilCrashed();
    await serveUntilStopped(gateway, config.server, { log, onListening, crashed });
    return OK;
  } finally {
    signals.stop();
    metrics?.close();
    log.flush();
  }
}

const readFrom = ({ files, included }: GatewayConfig) => [...files, ...included];

async function load(options: PreparedOptions): Promise<GatewayConfig | undefined> {
  const { host, port, workers } = options;
  const { config, diagnostics } = await loadConfig({
    paths: options.configPaths,
    ...(options.text !== undefined && { stdin: options.text }),
    env: options.env,
    cwd: options.cwd,
    flags: {
      ...(host === undefined ? {} : { 'listen.host': host }),
      ...(port === undefined ? {} : { 'listen.port': port }),
      ...(workers === undefined ? {} : { workers }),
    },
  });
  tell(diagnostics);
  return config;
}

async function openMetrics(
  { server }: GatewayConfig,
  ofWorkers: WorkerMetrics | undefined,
): Promise<MetricsListener | undefined> {
  const { listen } = server.metrics;
  if (!listen) return undefined;
  const { listenForMetrics } = await import('./metrics-listener.ts');
  const { metricsText } = await import('./metrics.ts');
  const listener = await listenForMetrics(listen, () => ofWorkers?.text() ?? metricsText());
  say(`metrics on ${listener.url}\n`);
  return listener;
}

function tell(diagnostics: readonly Diagnostic[]): void {
  if (diagnostics.length > 0) say(`${formatDiagnostics(diagnostics, 'text')}\n`);
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
