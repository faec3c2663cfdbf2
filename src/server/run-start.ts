import cluster from 'node:cluster';
import { join } from 'node:path';
import { formatDiagnostics, hasErrors } from '../config/diagnostic.ts';
import type { Diagnostic } from '../config/diagnostic.ts';
import { loadConfig } from '../config/load-config.ts';
import type { GatewayConfig } from '../config/load-config.ts';
import { nodeConfigFiles } from '../config/load.ts';
import type { ReferenceSources } from '../config/references.ts';
import { systemClock } from '../core/clock.ts';
import { createLog } from '../core/log.ts';
import type { Log } from '../core/log.ts';
import { convergeConfig } from './converge-config.ts';
import { firstStart, writeRuntime } from './first-start.ts';
import { listenForMetrics } from './metrics-listener.ts';
import type { MetricsListener } from './metrics-listener.ts';
import type { Gateway } from './open-gateway.ts';
import { reasonOf } from './reason-of.ts';
import { openConfigured, serveGateway } from './serve-gateway.ts';
import type { ServeDeps } from './serve-gateway.ts';
import { watchFiles } from './watch-files.ts';
import { clientKeyNote, welcome } from './welcome.ts';
import { checkScope, runWorkers } from './workers.ts';

export interface StartOptions {
  configPaths: readonly string[];
  host?: string | undefined;
  port?: number | undefined;
  workers?: number | undefined;
  /** Reload when a configuration file changes. */
  watch: boolean;
  /** Only check the configuration. */
  check: boolean;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
}

interface FirstInput {
  options: StartOptions;
  log: Log;
  sources: ReferenceSources;
}

interface ServeInput {
  options: StartOptions;
  log: Log;
  onListening(url: string): Promise<void>;
}

/** Exit codes of the published table. */
const OK = 0;
const FAILED = 1;
const INVALID_CONFIGURATION = 3;

const say = (text: string): void => void process.stderr.write(text);

/**
 * `gateway start`: runs until it is told to stop and gives the exit code. SIGTERM and SIGINT drain,
 * SIGHUP reloads; a second SIGINT ends at once.
 */
export async function runStart(options: StartOptions): Promise<number> {
  const config = await load(options);
  if (!config) return INVALID_CONFIGURATION;
  if (options.check) {
    say('configuration is valid\n');
    return OK;
  }
  const log = createLog({ clock: systemClock, ...config.server.log, write: say });
  try {
    return await start(config, options, log);
  } catch (error) {
    log.flush();
    say(`gateway: ${reasonOf(error)}\n`);
    return FAILED;
  } finally {
    // The channel to the first process would keep a worker alive.
    cluster.worker?.disconnect();
  }
}

async function start(config: GatewayConfig, options: StartOptions, log: Log): Promise<number> {
  const sources = { env: options.env, files: nodeConfigFiles };
  const deps: ServeDeps = { clock: systemClock, log, sources };
  // Reloads are the first process's, but a terminal or a supervisor signals the whole group.
  if (cluster.isWorker) process.on('SIGHUP', () => undefined);
  const gateway = await openConfigured(config, deps);
  try {
    if (!cluster.isWorker) return await startFirst(gateway, config, { options, log, sources });
    return await serveUntilStopped(gateway, config, { log });
  } finally {
    await gateway.close();
  }
}

/** The only process, or the first of several: makes what the store must hold, then serves. */
async function startFirst(
  gateway: Gateway,
  config: GatewayConfig,
  { options, log, sources }: FirstInput,
): Promise<number> {
  // Before anything is made in a store that would be of no use.
  if (config.server.workers > 1) checkScope(gateway.store);
  const { dataDir } = config.server;
  const made = await firstStart(gateway.repository, dataDir);
  let untold = made;
  const onListening = async (url: string): Promise<void> => {
    await writeRuntime(dataDir, url);
    const adminKeyFile = join(dataDir, 'admin.key');
    say(welcome({ url, adminKeyFile, made, model: modelToTry(config) }));
    untold = undefined;
  };
  try {
    const problems = await convergeConfig(gateway, config, sources);
    tell(problems);
    if (hasErrors(problems)) return INVALID_CONFIGURATION;
    return await serve(gateway, config, { options, log, onListening });
  } finally {
    if (untold) say(clientKeyNote(untold));
  }
}

async function serve(
  gateway: Gateway,
  config: GatewayConfig,
  { options, log, onListening }: ServeInput,
): Promise<number> {
  const reload = (): Promise<void> => reloadConfig(gateway, config, { options, log });
  const stopWatching = listenForReload(config, options, reload);
  let metrics: MetricsListener | undefined;
  try {
    metrics = await openMetrics(config);
    if (config.server.workers > 1) return await runWorkers(config.server, { log, onListening });
    return await serveUntilStopped(gateway, config, { log, onListening });
  } finally {
    stopWatching();
    metrics?.close();
    log.flush();
  }
}

async function load(options: StartOptions): Promise<GatewayConfig | undefined> {
  const { host, port, workers } = options;
  const { config, diagnostics } = await loadConfig({
    paths: options.configPaths,
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

async function serveUntilStopped(
  gateway: Gateway,
  config: GatewayConfig,
  { log, onListening }: { log: Log; onListening?: (url: string) => Promise<void> },
): Promise<number> {
  const serving = await serveGateway(gateway, config.server, systemClock);
  try {
    await onListening?.(serving.url);
    await untilSignal();
    log.info('stopping', { drain_ms: config.server.drainMs });
  } finally {
    await serving.stop();
    log.flush();
  }
  return OK;
}

async function openMetrics({ server }: GatewayConfig): Promise<MetricsListener | undefined> {
  const { listen } = server.metrics;
  if (!listen) return undefined;
  const listener = await listenForMetrics(listen, { ofWorkers: server.workers > 1 });
  say(`metrics on ${listener.url}\n`);
  return listener;
}

function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (asked && signal === 'SIGINT') process.exit(130);
      asked = true;
      resolve();
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

function listenForReload(
  config: GatewayConfig,
  options: StartOptions,
  reload: () => Promise<void>,
): () => void {
  let running = Promise.resolve();
  let isWaiting = false;
  const queue = (): void => {
    // One that waits will read what is there by then.
    if (isWaiting) return;
    isWaiting = true;
    running = running.then(() => {
      isWaiting = false;
      return reload();
    });
  };
  process.on('SIGHUP', queue);
  const watching = options.watch
    ? watchFiles([...config.files, ...config.included], {
        cwd: options.cwd,
        clock: systemClock,
        onChange: queue,
      })
    : undefined;
  return () => {
    process.off('SIGHUP', queue);
    watching?.close();
  };
}

/** All or nothing: an invalid file leaves everything as it was and says so (requirement ops.reload.atomic). */
async function reloadConfig(
  gateway: Gateway,
  before: GatewayConfig,
  { options, log }: { options: StartOptions; log: Log },
): Promise<void> {
  // Readiness is told to anybody, the reason only to the log: it may name files.
  const refuse = (told: string, reason = told): void => {
    gateway.condition.reloadError = told;
    log.error('the configuration was not reloaded; the former one serves on', { reason });
  };
  try {
    const config = await load(options);
    if (!config) return refuse('the configuration is invalid');
    const problems = await convergeConfig(gateway, config, {
      env: options.env,
      files: nodeConfigFiles,
    });
    tell(problems);
    if (hasErrors(problems)) return refuse('not everything could be applied');
    gateway.condition.reloadError = null;
    if (JSON.stringify(config.server) !== JSON.stringify(before.server)) {
      log.warn('changes of the server section take effect at the next start');
    }
    log.info('configuration reloaded');
  } catch (error) {
    refuse('the configuration could not be applied', reasonOf(error));
  }
}

function tell(diagnostics: readonly Diagnostic[]): void {
  if (diagnostics.length > 0) say(`${formatDiagnostics(diagnostics, 'text')}\n`);
}

function modelToTry(config: GatewayConfig): string | undefined {
  return config.desired.objects.find(
    ({ kind, body }) =>
      kind === 'model' && (body['type'] ?? 'llm') === 'llm' && body['enabled'] !== false,
  )?.name;
}
