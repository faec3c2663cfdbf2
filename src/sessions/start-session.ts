import { GatewayError } from '../core/errors.ts';
import type { Op, Version } from '../store/store.ts';
import { parseInputEvents } from './log/input-events.ts';
import { placeEvents } from './log/place-events.ts';
import { callsForTurn, statusAfter, turnJob } from './log/send-events.ts';
import type { SendDeps } from './log/send-events.ts';
import { appendOps } from './log/session-log.ts';
import { CommitStart } from '../jobs/commit-start.ts';
import { agentKey, indexKeys, sessionKey } from './session-row.ts';
import type { SessionRow } from './session-row.ts';
import type { MadeSession, NewSession } from './sessions.ts';
import { answerOf } from './status-moves.ts';

/** `type` of the conflict of a Session whose `also` did not hold. */
export const NOT_WANTED = 'session_not_wanted';

/** See `Sessions.create`. */
export async function startSession(
  { log, jobs }: SendDeps,
  input: NewSession,
): Promise<MadeSession> {
  const events = log.identify(readFirstEvents(input.events));
  const fresh = toRow(input, log.newSessionId(), log.now);
  const { id } = fresh;
  const all = [...events, ...log.identify(statusAfter(fresh, events))];
  const { row, placed } = placeEvents(fresh, all, log.now);
  const made: MadeSession = {
    session: { agent: input.agent, ...row },
    events: placed.slice(0, events.length).map(({ event }) => event),
  };
  const ops: Op[] = [
    { type: 'put', key: sessionKey(id), value: row, ifAbsent: true },
    { type: 'put', key: agentKey(id), value: input.agent },
    ...indexKeys(row).map((key): Op => ({ type: 'put', key, value: null })),
    ...appendOps(id, placed),
    ...((await input.also?.(made)) ?? []),
  ];
  const start = new CommitStart(jobs);
  if (callsForTurn(events)) ops.push(...(await start.opsFor(turnJob(id, row.organization))));
  const { commit = (all: readonly Op[]) => log.store.commit(all) } = input;
  let version: Version | undefined;
  try {
    const result = await commit(ops, { next: row });
    if (!result.ok) throw notWanted();
    version = result.version;
  } finally {
    start.settle(version);
  }
  return made;
}

/** Ids are new, so it is one of the caller's own conditions that did not hold. */
function notWanted(): GatewayError {
  const message = 'what the session was to be made for is done already';
  return new GatewayError('conflict', { message, type: NOT_WANTED, retry: false });
}

function readFirstEvents(events: NewSession['events'] = []): ReturnType<typeof parseInputEvents> {
  if (events.length === 0) return [];
  const input = parseInputEvents(events, 'initial_events');
  const index = input.findIndex((event) => answerOf(event) !== undefined);
  if (index < 0) return input;
  const param = `initial_events[${index}]`;
  const message = `${param}: a new session has asked for nothing`;
  throw new GatewayError('invalid_request', { message, param });
}

function toRow(input: NewSession, id: string, now: number): SessionRow {
  const at = new Date(now).toISOString();
  const { agent, organization, payer, entryPoint } = input;
  return {
    id,
    organization,
    payer,
    entryPoint,
    status: 'idle',
    endpointId: input.endpointId ?? null,
    deploymentId: input.deploymentId ?? null,
    ...(input.runId !== undefined && { runId: input.runId }),
    agentId: agent.id,
    agentVersion: agent.version,
    title: input.title ?? null,
    metadata: input.metadata ?? {},
    environmentId: input.environmentId ?? 'env_default',
    vaultIds: input.vaultIds ?? [],
    resources: input.resources ?? [],
    budget: input.budget ?? null,
    usage: {
      input_tokens: 0,
      output_tokens: 0,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    },
    cost: 0,
    activeMs: 0,
    turns: 0,
    runningSince: null,
    head: 0,
    handled: 0,
    lastInput: 0,
    queued: 0,
    awaiting: [],
    isPaused: false,
    turn: null,
    goes: 0,
    lastAt: now,
    createdAt: at,
    updatedAt: at,
    archivedAt: null,
  };
}
