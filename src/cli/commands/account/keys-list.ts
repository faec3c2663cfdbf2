import type { ResourceView } from '../../../client/admin.ts';
import type { Client } from '../../../client/create-client.ts';
import type { ClientError } from '../../../client/http/client-error.ts';
import { collect } from '../../../client/http/pages.ts';
import { keyState } from '../../../core/access.ts';
import type { CommandResult } from '../../command.ts';
import { listCommand, type ListInput } from '../../resources/list-resources.ts';

const DAY_MS = 86_400_000;
/** Earlier uses are not looked for. */
const LOOK_BACK_DAYS = 90;

/** Keys with their state, and the UTC day of their last call within 90 days. */
export const run = (input: ListInput): Promise<CommandResult> =>
  listCommand('keys', async (client, rows, signal) => {
    const now = input.context.clock.now();
    const [used, disabled] = await Promise.all([
      unlessRefused(lastDays(client, now, signal)),
      unlessRefused(disabledOwners(client, signal)),
    ]);
    return rows.map((row) => ({
      ...row,
      state: keyState(row, now, !disabled?.has(String(row['organization']))),
      ...(used && { last_used_on: used.get(row.id) ?? null }),
    }));
  })(input);

/** Days of last use, by the id of the key. */
async function lastDays(
  client: Client,
  now: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const from = new Date(now - LOOK_BACK_DAYS * DAY_MS).toISOString().slice(0, 10);
  const { rows } = await client.usage.report({ groupBy: ['key', 'day'], from }, signal);
  const last = new Map<string, string>();
  for (const { key, day } of rows) {
    if (String(day) > (last.get(String(key)) ?? '')) last.set(String(key), String(day));
  }
  return last;
}

async function disabledOwners(client: Client, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const all: ResourceView[] = await collect(client.admin('organizations').list({}, signal));
  return new Set(all.filter(({ enabled }) => enabled === false).map(({ id }) => id));
}

/** Undefined where the key in use may not read it, or an older gateway has no such path: it still lists its keys. */
async function unlessRefused<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (thrown) {
    const { status } = thrown as Partial<ClientError>;
    if (status === 403 || status === 404) return undefined;
    throw thrown;
  }
}
