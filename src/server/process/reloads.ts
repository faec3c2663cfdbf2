import type { ConvergeResult } from '../../config/apply/converge.ts';
import type { Diagnostic } from '../../config/source/diagnostic.ts';
import { formatDiagnostics, hasErrors } from '../../config/source/diagnostic.ts';
import type { GatewayConfig, LoadedConfig } from '../../config/read/load-config.ts';
import type { Log } from '../../core/log.ts';
import type { ReloadChange } from '../../core/process/runtime-file.ts';
import { convergeConfig } from './converge-config.ts';
import type { ActionResult } from './listen-for-signals.ts';
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
  load(): Promise<LoadedConfig>;
  tell(problems: readonly Diagnostic[]): void;
  readonly log: Log;
  /** Undefined where only one process serves. */
  readonly workers: Workers | undefined;
}

/** Work of SIGHUP and SIGUSR2. Neither rejects. */
export interface Reloads {
  /** All or nothing: an invalid file leaves everything as it was (requirement ops.reload.atomic). */
  reload(): Promise<ActionResult>;
  /** Reloads, and puts new workers, with the settings of now, in the place of those that serve. */
  restart(): Promise<ActionResult>;
}

/** Bounds of what an outcome lists. */
const MAX_CHANGES = 200;
const MAX_PATHS = 20;

export function createReloads(
  gateway: Gateway,
  first: GatewayConfig,
  options: ReloadsOptions,
): Reloads {
  const { log, workers } = options;
  let served = first.server;
  const refuse = (result: ActionResult, error: string): ActionResult => {
    log.error('the workers were not replaced; the former ones serve on', { reason: error });
    return { ...result, error };
  };
  return {
    async reload() {
      workers?.renew();
      const { config, result } = await loadAndApply(gateway, options);
      if (!config || JSON.stringify(config.server) === JSON.stringify(served)) return result;
      const when = workers ? 'restart of the workers' : 'start';
      log.warn(`changes of the server section take effect at the next ${when}`);
      const fixed = fixedChanges(served, config.server);
      return { ...result, later: fixed.length > 0 ? fixed : ['server'] };
    },
    async restart() {
      const { config, result } = await loadAndApply(gateway, options);
      if (!config) return result;
      if (!workers) return refuse(result, 'one process alone cannot be replaced while it serves');
      const fixed = fixedChanges(served, config.server);
      if (fixed.length > 0)
        return refuse(result, `only a stop and a start can change ${fixed.join(', ')}`);
      try {
        await workers.replace(config);
      } catch (thrown) {
        return refuse(result, reasonOf(thrown));
      }
      served = config.server;
      log.info('workers replaced', { workers: served.workers });
      return result;
    },
  };
}

interface Applied {
  /** Configuration that was loaded, if all of it is served now. */
  readonly config?: GatewayConfig;
  readonly result: ActionResult;
}

async function loadAndApply(
  gateway: Gateway,
  { load, tell, log, workers }: ReloadsOptions,
): Promise<Applied> {
  const note = (error: string | null): void => {
    gateway.condition.reloadError = error;
    workers?.tellReload(error);
  };
  // Readiness is public, so only the log has the reason: it may name files.
  const refuse = (error: string, details: Partial<ActionResult> = {}): Applied => {
    note(error);
    const [reason = error] = details.isInvalid ? [] : (details.problems ?? []);
    log.error('the configuration was not reloaded; the former one serves on', { reason });
    return { result: { ...details, error } };
  };
  try {
    const { config, diagnostics } = await load();
    if (!config) {
      tell(diagnostics);
      const problems = textsOf(diagnostics);
      return refuse('the configuration is invalid', { isInvalid: true, problems });
    }
    const converged = await convergeConfig(gateway, config);
    const found = [...diagnostics, ...converged.diagnostics];
    tell(found);
    const details = { problems: textsOf(found), ...changesOf(converged) };
    if (hasErrors(found))
      return refuse('not everything could be applied', { ...details, isInvalid: true });
    note(null);
    log.info('configuration reloaded');
    return { config, result: { ...details, error: null } };
  } catch (error) {
    return refuse('the configuration could not be applied', { problems: [reasonOf(error)] });
  }
}

const textsOf = (diagnostics: readonly Diagnostic[]): string[] =>
  diagnostics.map((one) => formatDiagnostics([one], 'text'));

function changesOf({ plan, report }: ConvergeResult): Pick<ActionResult, 'changes' | 'left'> {
  const pathsOf = ({ kind, identity }: { kind: string; identity: string }): string[] => {
    const isSame = (one: { kind: string; identity: string }): boolean =>
      one.kind === kind && one.identity === identity;
    const { action, changes = [] } = plan?.actions.find(isSame) ?? {};
    return action === 'update' ? changes.map(({ path }) => path) : [];
  };
  const changes: ReloadChange[] = (report?.applied ?? [])
    .slice(0, MAX_CHANGES)
    .map(({ action, kind, identity }) => {
      const paths = pathsOf({ kind, identity }).slice(0, MAX_PATHS);
      return { action, kind, identity, paths };
    });
  const obstacles = plan ? [plan.conflicts, plan.ambiguous, plan.lost, plan.fixed] : [];
  return { changes, left: obstacles.flat().length };
}
