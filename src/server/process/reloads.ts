import type { Diagnostic } from '../../config/source/diagnostic.ts';
import { hasErrors } from '../../config/source/diagnostic.ts';
import type { GatewayConfig } from '../../config/read/load-config.ts';
import type { ReferenceSources } from '../../config/objects/references.ts';
import type { Log } from '../../core/log.ts';
import { convergeConfig } from './converge-config.ts';
import type { Gateway } from '../compose/open-gateway.ts';
import { reasonOf } from '../../core/errors.ts';
import type { Workers } from './workers.ts';
import type { ServerConfig } from '../../config/schema/server-config.ts';

/**
 * Settings that every process of a gateway must have alike, or that the first one has opened
 * itself.
 */
const FIXED = {
  listen: 'server.listen',
  dataDir: 'server.data_dir',
  store: 'server.store',
  secrets: 'server.secrets',
  metrics: 'server.metrics',
  console: 'server.console',
} as const satisfies Partial<Record<keyof ServerConfig, string>>;

/** Changed settings with which new workers could not serve at the same time as the former ones. */
export function fixedChanges(before: ServerConfig, after: ServerConfig): string[] {
  const names = Object.keys(FIXED) as (keyof typeof FIXED)[];
  const changed = names.filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const fixed: string[] = changed.map((name) => FIXED[name]);
  return before.workers > 1 && after.workers === 1 ? [...fixed, 'server.workers: 1'] : fixed;
}

export interface ReloadsOptions {
  /** Undefined for files that are not valid; it has logged why. */
  load(): Promise<GatewayConfig | undefined>;
  readonly sources: ReferenceSources;
  tell(problems: readonly Diagnostic[]): void;
  readonly log: Log;
  /** Undefined where only one process serves. */
  readonly workers: Workers | undefined;
}

/** Work of SIGHUP and SIGUSR2. Each gives why it was refused, or null, and never rejects. */
export interface Reloads {
  /** All or nothing: an invalid file leaves everything as it was (requirement ops.reload.atomic). */
  reload(): Promise<string | null>;
  /** Reloads, and puts new workers, with the settings of now, in the place of those that serve. */
  restart(): Promise<string | null>;
}

export function createReloads(
  gateway: Gateway,
  first: GatewayConfig,
  options: ReloadsOptions,
): Reloads {
  const { log, workers } = options;
  let served = first.server;
  const refuse = (error: string): string => {
    log.error('the workers were not replaced; the former ones serve on', { reason: error });
    return error;
  };
  return {
    async reload() {
      workers?.renew();
      const { config, error } = await loadAndApply(gateway, options);
      if (config && JSON.stringify(config.server) !== JSON.stringify(served)) {
        const when = workers ? 'restart of the workers' : 'start';
        log.warn(`changes of the server section take effect at the next ${when}`);
      }
      return error;
    },
    async restart() {
      const { config, error } = await loadAndApply(gateway, options);
      if (!config) return error;
      if (!workers) return refuse('one process alone cannot be replaced while it serves');
      const fixed = fixedChanges(served, config.server);
      if (fixed.length > 0) return refuse(`only a stop and a start can change ${fixed.join(', ')}`);
      try {
        await workers.replace(config);
      } catch (thrown) {
        return refuse(reasonOf(thrown));
      }
      served = config.server;
      log.info('workers replaced', { workers: served.workers });
      return null;
    },
  };
}

interface Applied {
  /** Configuration that was loaded, if all of it is served now. */
  readonly config?: GatewayConfig;
  readonly error: string | null;
}

async function loadAndApply(
  gateway: Gateway,
  { load, sources, tell, log, workers }: ReloadsOptions,
): Promise<Applied> {
  const note = (error: string | null): void => {
    gateway.condition.reloadError = error;
    workers?.tellReload(error);
  };
  // Readiness is public, so only the log has the reason: it may name files.
  const refuse = (error: string, reason = error): Applied => {
    note(error);
    log.error('the configuration was not reloaded; the former one serves on', { reason });
    return { error };
  };
  try {
    const config = await load();
    if (!config) return refuse('the configuration is invalid');
    const problems = await convergeConfig(gateway, config, sources);
    tell(problems);
    if (hasErrors(problems)) return refuse('not everything could be applied');
    note(null);
    log.info('configuration reloaded');
    return { config, error: null };
  } catch (error) {
    return refuse('the configuration could not be applied', reasonOf(error));
  }
}
