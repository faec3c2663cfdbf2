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
  // At most the number that may be enough, which it mostly is.
  for (let chunk = Math.min(limit, CHUNK); ; chunk = Math.min(2 * chunk, CHUNK)) {
    const ids = await log.store.list({
      prefix,
      limit: chunk,
      reverse: order === 'desc',
      ...(last === undefined ? {} : { after: [...prefix, last] }),
    });
    const rows = await Promise.all(ids.map(({ key }) => log.find(String(key.at(-1)))));
    const matching = rows.flatMap((entry) =>
      entry && isMatch(entry.value, filter) ? [entry.value] : [],
    );
    const wanted = matching.slice(0, limit - found.length);
    const sessions = await Promise.all(wanted.map((row) => log.withAgent(row)));
    found.push(...sessions.filter((session) => session !== undefined));
    if (found.length >= limit || ids.length < chunk) return found;
    last = String(ids.at(-1)?.key.at(-1));
  }
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
