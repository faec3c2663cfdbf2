import cluster from 'node:cluster';
import { systemClock } from '../../core/time/clock.ts';
import type { Log } from '../../core/log.ts';
import { createProxyRules } from '../../upstream/proxy/proxy-rules.ts';
import { useProxiesForFetch } from '../../upstream/proxy/proxied-fetch.ts';
import type { Gateway } from '../compose/open-gateway.ts';
import { reportCrashes } from './report-crashes.ts';
import { openConfigured } from './serve-gateway.ts';
import type { ServeDeps } from './serve-gateway.ts';
import { serveUntilStopped } from './serve-until-stopped.ts';
import { onFirstProcessGone, onReload, receiveSettings, startBeating } from './worker-channel.ts';
import { offerMetrics } from './worker-metrics.ts';
import type { WorkerSettings } from './worker-settings.ts';

export interface WorkerOptions {
  /** Without the variables of `.env`, which the first process read. */
  readonly sources: ServeDeps['sources'];
  createLog(settings: WorkerSettings): Log;
  onFailure(error: unknown): void;
}

/** One of several processes: serves what the first one says; gives true when it ended well. */
export async function runWorker({
  sources: own,
  createLog,
  onFailure,
}: WorkerOptions): Promise<boolean> {
  // Signals for the first process, which a terminal or a supervisor sends to the whole group.
  for (const signal of ['SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => undefined);
  const until = new Promise<void>((resolve) => onFirstProcessGone(resolve));
  let condition: Pick<Gateway['condition'], 'reloadError'> = { reloadError: null };
  onReload((error) => (condition.reloadError = error));
  const settings = await Promise.race([receiveSettings(), until]);
  if (!settings) {
    onFailure(new Error('the first process ended before this worker could start'));
    return false;
  }
  startBeating();
  const log = createLog(settings);
  const crashes = reportCrashes(log);
  const { server, fromEnvFile, commands } = settings;
  const env = { ...own.env, ...fromEnvFile.values };
  const sources = { ...own, env, envFile: fromEnvFile.path, commands };
  try {
    await useProxiesForFetch(createProxyRules(sources.env));
    const gateway = await openConfigured(settings, { clock: systemClock, log, sources });
    condition = Object.assign(gateway.condition, condition);
    let tellMetrics: (() => Promise<void>) | undefined;
    try {
      if (server.metrics.listen) {
        crashes.onRejection(await (await import('./metrics.ts')).createRejectionCounter());
        tellMetrics = await offerMetrics();
      }
      const crashed = crashes.untilCrashed();
      await serveUntilStopped(gateway, server, { log, until, crashed });
    } finally {
      await gateway.close();
      await tellMetrics?.();
    }
    return !crashes.isCrashed;
  } catch (error) {
    log.flush();
    onFailure(error);
    return false;
  } finally {
    // The channel to the first process would keep a worker alive.
    if (process.connected) cluster.worker?.disconnect();
  }
}
