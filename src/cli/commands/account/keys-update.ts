import { usageError } from '../../cli-error.ts';
import { readKeyFields, windowOf } from '../../keys/key-fields.ts';
import { mergeLabels } from '../../resources/merge-labels.ts';
import type { ChangedEntry, Entry } from '../../write/change-entry.ts';
import { updateObject } from '../../write/update-object.ts';
import type { InputOf, RunOf } from '../../commands.ts';

const FIELDS: Readonly<Record<string, string>> = {
  scopes: 'scopes',
  role: 'role',
  'rpm-cap': 'rpm_cap',
  'concurrency-cap': 'concurrency_cap',
  'conversation-spending': 'limits',
  expiry: 'expires_at',
  'allowed-models': 'allowed_models',
};

export const run: RunOf<'keys update'> = updateObject('key', async (before, input) =>
  changed(before, input),
);

function changed(before: Entry, { flags, context }: InputOf<'keys update'>): ChangedEntry {
  const { spending_limit: limits = {}, ...fields } = readKeyFields(flags, context.clock.now());
  const name = flags.name;
  const labels = mergeLabels((before['labels'] ?? {}) as Record<string, string>, flags.label);
  const cleared = flags.clear;
  const said: Entry = { ...(name !== undefined && { name }), ...fields, ...(labels && { labels }) };
  const gone = cleared.flatMap((flag) => FIELDS[flag] ?? []);
  const both = gone.find((field) => field in said);
  if (both !== undefined) throw usageError(`${both} is both set and cleared`);
  const spending = new Map(Object.entries(before['spending_limit'] ?? {}));
  for (const flag of cleared) spending.delete(windowOf(flag) ?? '');
  for (const [window, amount] of Object.entries(limits as object)) spending.set(window, amount);
  const changesSpending =
    Object.keys(limits as object).length > 0 || cleared.some((flag) => windowOf(flag));
  if (changesSpending && spending.size > 0) said['spending_limit'] = Object.fromEntries(spending);
  else if (changesSpending) gone.push('spending_limit');
  const kept = Object.entries(before).filter(([field]) => !gone.includes(field));
  return {
    entry: { ...Object.fromEntries(kept), ...said },
    given: new Set([...Object.keys(said), ...gone]),
    directory: context.io.cwd,
  };
}
