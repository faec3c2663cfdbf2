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

/** The settings that differ and that new workers beside the former ones could not serve with. */
export function fixedChanges(before: ServerConfig, after: ServerConfig): string[] {
  const names = Object.keys(FIXED) as (keyof typeof FIXED)[];
  const changed = names.filter(
    (name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  );
  const fixed: string[] = changed.map((name) => FIXED[name]);
  return before.workers > 1 && after.workers === 1 ? [...fixed, 'server.workers: 1'] : fixed;
}
