import { isRecord } from '../../../client/http/guards.ts';
import type { ResourceView } from '../../../client/admin.ts';
import { oneLine } from '../../../core/printable.ts';
import { CliError, usageError } from '../../cli-error.ts';
import type { CommandRun, Flags } from '../../command.ts';
import { readKeyFields, windowOf } from '../../keys/key-fields.ts';
import { mergeLabels } from '../../resources/merge-labels.ts';
import { refuseOwned } from '../../resources/refuse-owned.ts';

const FIELDS: Readonly<Record<string, string>> = {
  scopes: 'scopes',
  'rpm-cap': 'rpm_cap',
  'concurrency-cap': 'concurrency_cap',
  expiry: 'expires_at',
  'allowed-models': 'allowed_models',
};

export const run: CommandRun = async ({ args, flags, context }) => {
  const given = readKeyFields(flags, context.clock.now());
  const client = await context.connect();
  const keys = client.admin('keys');
  const key = await keys.get(args['id'] ?? '', context.signal);
  const called = `key ${oneLine(key.name)} (${key.id})`;
  if (typeof key['revoked_at'] === 'string') {
    const message = `${called} was revoked at ${key['revoked_at']}; a revoked key is not changed`;
    throw new CliError({
      code: 'key_revoked',
      message,
      hint: '`gateway keys create` makes a new one',
      exit: 'conflict',
    });
  }
  const body = toChange(key, flags, given);
  if (Object.keys(body).length === 0) {
    throw usageError('nothing to change', 'gateway keys update --help lists the flags');
  }
  refuseOwned(key, { called, force: flags.on('force') });
  const change = { ...body, expected_version: key.version };
  const updated = await keys.update(key.id, change, context.signal);
  const text = updated.version === key.version ? 'is so already' : 'is changed';
  return { data: updated, text: `key ${oneLine(updated.name)} (${key.id}) ${text}` };
};

function toChange(
  key: ResourceView,
  flags: Flags,
  { spending_limit: limits, ...given }: Record<string, unknown>,
): Record<string, unknown> {
  const cleared = flags.list('clear');
  const name = flags.text('name');
  const labels = mergeLabels(key.labels, flags.list('label'));
  const spending = new Map(
    Object.entries(isRecord(key['spending_limit']) ? key['spending_limit'] : {}),
  );
  const none: Record<string, null> = {};
  for (const flag of cleared) {
    const [field, window] = [FIELDS[flag], windowOf(flag)];
    if (field !== undefined) none[field] = null;
    else if (window !== undefined) spending.delete(window);
  }
  const both = Object.keys(given).find((field) => field in none);
  if (both !== undefined) throw usageError(`${both} is both set and cleared`);
  for (const [window, amount] of Object.entries(limits ?? {})) spending.set(window, amount);
  const changesSpending = limits !== undefined || cleared.some((flag) => windowOf(flag));
  return {
    ...(name !== undefined && { name }),
    ...given,
    ...none,
    ...(changesSpending && {
      spending_limit: spending.size === 0 ? null : Object.fromEntries(spending),
    }),
    ...(labels && { labels }),
  };
}
