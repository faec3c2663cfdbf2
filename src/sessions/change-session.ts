import { z } from 'zod';
import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '../core/errors.ts';
import type { AgentParts, OperatorNames } from '../resources/kinds/agent-fields.ts';
import { parseInput } from './log/parse-input.ts';
import { metadata } from '../resources/fields/fields.ts';
import type { ResolvedAgent } from './resolved-agent.ts';
import type { Whose } from './log/send-events.ts';
import type { NewEvent } from './log/session-event.ts';
import { changeBudget } from './session-budget.ts';
import { toAgentView } from './session-view.ts';
import { noSession } from './log/session-log.ts';
import type { RowChange, SessionLog } from './log/session-log.ts';
import { agentKey } from './session-row.ts';
import type { SessionRow } from './session-row.ts';
import type { AlsoChanged, Archival, SessionChanges } from './sessions.ts';
import { agentParts, checkAgentParts } from '../resources/kinds/agent-fields.ts';

const lists = z.object({ tools: agentParts().tools, mcp_servers: agentParts().mcp_servers });

/**
 * The Agent of one Session with other tools and servers (requirement sessions.update).
 *
 * @throws GatewayError `invalid_request` and `unprocessable`, as an update of the Agent itself does
 */
function reviseAgent(
  agent: ResolvedAgent,
  changes: { readonly tools?: unknown; readonly mcp_servers?: unknown },
  operator?: OperatorNames,
): ResolvedAgent {
  const { tools, mcp_servers } = agent;
  const given = parseInput(lists, { tools, mcp_servers, ...changes }, 'agent');
  const next = { ...agent, ...given } as ResolvedAgent;
  checkAgentParts(next as unknown as AgentParts, 'agent.', operator);
  return next;
}

interface ChangeDeps {
  readonly log: SessionLog;
  readonly operator?: OperatorNames | undefined;
}

/** See `Sessions.update`. */
export async function changeSession(
  deps: ChangeDeps,
  { organization, id }: Whose,
  changes: SessionChanges,
): Promise<SessionRow> {
  const { log } = deps;
  const changed = await log.change(id, async (row) => {
    if (row?.organization !== organization) throw noSession();
    return withUpdates(deps, row, changes);
  });
  return changed?.row ?? log.load(organization, id);
}

/** See `Sessions.archive`. */
export async function archiveSession(
  log: SessionLog,
  { organization, id }: Whose,
  { also, commit }: Archival = {},
): Promise<SessionRow> {
  const changed = await log.change(id, async (row) => {
    if (row?.organization !== organization) throw noSession();
    if (row.archivedAt !== null) return undefined;
    const archivedAt = new Date(log.now).toISOString();
    return { row: { ...row, archivedAt }, commit, ...(await alsoOf(log, row, { also })) };
  });
  return changed?.row ?? log.load(organization, id);
}

/** Undefined when nothing changes. The event names the changes (requirement sessions.update). */
async function withUpdates(
  deps: ChangeDeps,
  row: SessionRow,
  changes: SessionChanges,
): Promise<RowChange | undefined> {
  const { log } = deps;
  const title = changes.title === undefined ? row.title : changes.title || null;
  const metadata = patch(row.metadata, changes.metadata);
  const budget = changeBudget(row, changes.budget);
  const agent = await changedAgent(deps, row, changes.agent);
  const event: NewEvent = {
    type: 'session.updated',
    ...(title !== row.title && { title }),
    ...(!isDeepStrictEqual(metadata, row.metadata) && { metadata }),
    ...(!isDeepStrictEqual(budget, row.budget) && { budget }),
    ...(agent && { agent: toAgentView(agent) }),
  };
  if (Object.keys(event).length === 1) return undefined;
  return {
    row: { ...row, title, metadata, budget },
    events: log.identify([event]),
    commit: changes.commit,
    ops: agent ? [{ type: 'put', key: agentKey(row.id), value: agent }] : [],
    ...(await alsoOf(log, row, { also: changes.also, agent })),
  };
}

async function alsoOf(
  log: SessionLog,
  row: SessionRow,
  { also, agent }: { also: AlsoChanged | undefined; agent?: ResolvedAgent | undefined },
): Promise<Pick<RowChange, 'also'>> {
  const own = also && (agent ?? (await log.withAgent(row))?.agent);
  return own ? { also: (changed) => also({ ...changed.row, agent: own }) } : {};
}

function patch(
  before: SessionRow['metadata'],
  changes: SessionChanges['metadata'] = {},
): SessionRow['metadata'] {
  const merged = Object.entries({ ...before, ...changes });
  const kept = Object.fromEntries(merged.filter(([, value]) => value !== null));
  return parseInput(metadata, kept, 'metadata');
}

async function changedAgent(
  { log, operator }: ChangeDeps,
  row: SessionRow,
  changes: SessionChanges['agent'] = {},
): Promise<ResolvedAgent | undefined> {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  if (given.length === 0) return undefined;
  if (row.status !== 'idle') {
    const message = `the agent of a session that is ${row.status} cannot be changed`;
    throw new GatewayError('conflict', { message, retry: false });
  }
  const agent = (await log.withAgent(row))?.agent;
  if (!agent) throw noSession();
  const next = reviseAgent(agent, Object.fromEntries(given), operator);
  return isDeepStrictEqual(next, agent) ? undefined : next;
}
