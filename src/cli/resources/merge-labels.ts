import { usageError } from '../cli-error.ts';

/** Labels after `KEY=VALUE` sets and `KEY-` removes some; undefined when nothing is asked for. */
export function mergeLabels(
  labels: Readonly<Record<string, string>>,
  changes: readonly string[],
): Record<string, string> | undefined {
  if (changes.length === 0) return undefined;
  const merged = new Map(Object.entries(labels));
  for (const change of changes) {
    const { key, value } = readChange(change);
    if (key.startsWith('gateway/'))
      throw usageError(`--label ${key}: labels that begin with gateway/ are the gateway's own`);
    if (value === undefined) merged.delete(key);
    else merged.set(key, value);
  }
  return Object.fromEntries(merged);
}

function readChange(change: string): { key: string; value?: string } {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(change) ?? [];
  if (key !== undefined && value !== undefined) return { key, value };
  const [, removed] = /^([^=]+)-$/.exec(change) ?? [];
  if (removed !== undefined) return { key: removed };
  throw usageError(`--label must be KEY=VALUE, or KEY- to remove it, not "${change}"`);
}
