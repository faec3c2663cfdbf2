import type { Store } from '../store/store.ts';
import { runIndexPrefix, runKey, statusOf } from './run-row.ts';
import type { RunRow, RunStatus, RunTrigger } from './run-row.ts';

const CHUNK = 100;
/** Clients may ask for ids that are longer than a key of the store can be. */
const MAX_ID_LENGTH = 128;

/** All of them hold. */
export interface RunFilter {
  readonly deploymentIds?: readonly string[] | undefined;
  readonly agentIds?: readonly string[] | undefined;
  readonly triggerType?: RunTrigger['type'] | undefined;
  readonly statuses?: readonly RunStatus[] | undefined;
  readonly hasError?: boolean | undefined;
  /** ISO 8601 in UTC with milliseconds. */
  readonly created?: ((at: string) => boolean) | undefined;
}

export interface RunQuery extends RunFilter {
  /** Id after which the page begins, in the direction of travel. */
  readonly after?: string | undefined;
  readonly limit: number;
  /** Default `desc`: newest first. */
  readonly order?: 'asc' | 'desc' | undefined;
}

/** The runs of Schedules, which outlive them. Rejects with `StoreError`. */
export interface RunStore {
  /** Undefined also for another organization's. */
  get(organization: string, id: string): Promise<RunRow | undefined>;
  /** One page, by age; costs more the fewer of them match. */
  list(organization: string, query: RunQuery): Promise<RunRow[]>;
}

export function createRunStore(store: Pick<Store, 'get' | 'list'>): RunStore {
  const find = async (id: string): Promise<RunRow | undefined> =>
    id.length > MAX_ID_LENGTH ? undefined : (await store.get<RunRow>(runKey(id)))?.value;
  return {
    async get(organization, id) {
      const row = await find(id);
      return row?.organization === organization ? row : undefined;
    },
    async list(organization, { after, limit, order = 'desc', ...filter }) {
      const prefix = placeOf(organization, filter);
      if (!prefix) return [];
      const found: RunRow[] = [];
      let last = after;
      for (;;) {
        const ids = await store.list({
          prefix,
          limit: CHUNK,
          reverse: order === 'desc',
          ...(last === undefined ? {} : { after: [...prefix, last] }),
        });
        const rows = await Promise.all(ids.map(({ key }) => find(String(key.at(-1)))));
        found.push(
          ...rows.filter((row) => row !== undefined).filter((row) => isMatch(row, filter)),
        );
        if (found.length >= limit || ids.length < CHUNK) return found.slice(0, limit);
        last = String(ids.at(-1)?.key.at(-1));
      }
    },
  };
}

/** Undefined when none can match. */
function placeOf(organization: string, { deploymentIds }: RunFilter) {
  const [id, ...others] = deploymentIds ?? [];
  if (id === undefined || others.length > 0) return runIndexPrefix(organization, 'all', '');
  return id.length > MAX_ID_LENGTH ? undefined : runIndexPrefix(organization, 'deployment', id);
}

function isMatch(row: RunRow, filter: RunFilter): boolean {
  const { deploymentIds, agentIds, triggerType, statuses, hasError, created } = filter;
  const { deploymentId, agent, trigger, error, createdAt } = row;
  return (
    (deploymentIds === undefined || deploymentIds.includes(deploymentId)) &&
    (agentIds === undefined || (agent !== null && agentIds.includes(agent.id))) &&
    (triggerType === undefined || triggerType === trigger.type) &&
    (statuses === undefined || statuses.includes(statusOf(row))) &&
    (hasError === undefined || hasError === (error !== null)) &&
    (created === undefined || created(createdAt))
  );
}
