import type { ListFilters } from '../../client/admin.ts';
import type { Client } from '../../client/create-client.ts';
import type { FlagValues } from '../grammar/flags.ts';
import type { RUN_FILTERS } from '../tables/deployment-commands.ts';
import { findDeployment } from '../resources/find-deployment.ts';

/** Schedule and trigger, which both `runs list` and `runs watch` narrow by. */
export async function runFilters(
  client: Client,
  flags: FlagValues<typeof RUN_FILTERS>,
  signal: AbortSignal,
): Promise<ListFilters> {
  const named = flags.schedule;
  // A Schedule that is gone has runs still, so an id is taken as it is.
  const isId = named?.startsWith('depl_') ?? true;
  const id = isId ? named : (await findDeployment(client, named ?? '', signal)).id;
  return { deployment_id: id, trigger_type: flags.trigger };
}
