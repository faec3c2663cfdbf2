import type { SessionLog } from './log/session-log.ts';
import { indexPrefix } from './session-row.ts';
import type { SessionIndex, SessionRow } from './session-row.ts';
import type { Session } from './session.ts';
import type { SessionFilter, SessionQuery } from './sessions.ts';

/** Most rows that are read at once. */
const CHUNK = 100;

/** See `Sessions.list`. */
export async function listSessions(
  log: SessionLog,
  organization: string,
  { after, limit, order, ...filter }: SessionQuery,
): Promise<Session[]> {
  const prefix = indexPrefix(organization, ...narrowest(filter));
  const found: Session[] = [];
  let last = after;
  const chosen = filter.ids && chosenAfter(filter.ids, { after, order });
  // At most the number that may be enough, which it mostly is.
  for (let chunk = Math.min(limit, CHUNK); ; chunk = Math.min(2 * chunk, CHUNK)) {
    const list = async (): Promise<string[]> => {
      const after = last === undefined ? {} : { after: [...prefix, last] };
      const range = { prefix, limit: chunk, reverse: order === 'desc', ...after };
      return (await log.store.list(range)).map(({ key }) => String(key.at(-1)));
    };
    const ids = chosen ?? (await list());
    const rows = await Promise.all(ids.map((id) => log.find(id)));
    const matching = rows.flatMap((entry) =>
      entry?.value.organization === organization && isMatch(entry.value, filter)
        ? [entry.value]
        : [],
    );
    const wanted = matching.slice(0, limit - found.length);
    const sessions = await Promise.all(wanted.map((row) => log.withAgent(row)));
    found.push(...sessions.filter((session) => session !== undefined));
    if (chosen || found.length >= limit || ids.length < chunk) return found;
    last = ids.at(-1);
  }
}

/** The named ones in the order of their age, which is that of the ids. */
function chosenAfter(
  ids: readonly string[],
  { after, order }: Pick<SessionQuery, 'after' | 'order'>,
): string[] {
  const sorted = order === 'asc' ? ids.toSorted() : ids.toSorted().reverse();
  if (after === undefined) return sorted;
  return sorted.filter((id) => (order === 'asc' ? id > after : id < after));
}

function narrowest({ deploymentId, endpointId, agentId }: SessionFilter): [SessionIndex, string] {
  if (deploymentId !== undefined) return ['deployment', deploymentId];
  if (endpointId !== undefined) return ['endpoint', endpointId];
  return agentId === undefined ? ['all', ''] : ['agent', agentId];
}

function isMatch(row: SessionRow, filter: SessionFilter): boolean {
  const { agentId, agentVersion, deploymentId, endpointId, statuses, created } = filter;
  return (
    (filter.includeArchived === true || row.archivedAt === null) &&
    (agentId === undefined || row.agentId === agentId) &&
    (agentVersion === undefined || row.agentVersion === agentVersion) &&
    (deploymentId === undefined || row.deploymentId === deploymentId) &&
    (endpointId === undefined || row.endpointId === endpointId) &&
    (statuses === undefined || statuses.includes(row.status)) &&
    (created === undefined || created(row.createdAt))
  );
}
