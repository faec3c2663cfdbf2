import type { ResourceView } from '../../../client/admin.ts';
import type { Client } from '../../../client/create-client.ts';
import { ClientError } from '../../../client/http/client-error.ts';
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
      lastDays(client, now, signal),
      disabledOwners(client, signal),
    ]);
    return rows.map((row) => ({
      ...row,
      state: keyState(row, now, !disabled.has(String(row['organization']))),
      ...(used && { last_used_on: used.get(row.id) ?? null }),
    }));
  })(input);

/** Undefined where the key in use may not read usage. */
async function lastDays(
  client: Client,
  now: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string> | undefined> {
  const from = new Date(now - LOOK_BACK_DAYS * DAY_MS).toISOString().slice(0, 10);
  try {
    const { rows } = await client.usage.report({ groupBy: ['key', 'day'], from }, signal);
    const last = new Map<string, string>();
    for (const { key, day } of rows) {
      if (String(day) > (last.get(String(key)) ?? '')) last.set(String(key), String(day));
    }
    return last;
  } catch (thrown) {
    return ignoreRefusal(thrown, undefined, signal);
  }
}

async function disabledOwners(client: Client, signal: AbortSignal): Promise<ReadonlySet<string>> {
  try {
    const all: ResourceView[] = await collect(client.admin('organizations').list({}, signal));
    return new Set(all.filter(({ enabled }) => enabled === false).map(({ id }) => id));
  } catch (thrown) {
    return ignoreRefusal(thrown, new Set<string>(), signal);
  }
}

/** These members are an addition: a gateway that refuses them still lists its keys. */
function ignoreRefusal<T>(thrown: unknown, without: T, signal: AbortSignal): T {
  if (thrown instanceof ClientError && !signal.aborted) return without;
  throw thrown;
}
