import { approximateSize } from '../../../core/json/approximate-size.ts';
import type { Clock } from '../../../core/time/clock.ts';
import { GatewayError } from '../../../core/errors.ts';
import { parseInput } from '../../../sessions/log/parse-input.ts';
import type { EventDelta, PlacedEvent, SessionEvent } from '../../../sessions/log/session-event.ts';
import type { Sessions } from '../../../sessions/sessions.ts';
import { awaitedBy } from '../../../sessions/status-moves.ts';
import type { PayingKey } from '../../../usage/principal.ts';
import { followTurn, isPlaced } from '../follow-turn.ts';
import { inputOrContent, messageParts } from '../read-run.ts';
import type { Service } from '../service-desk.ts';
import type { SentMessage, ServiceMessage, ServiceRuns } from '../service-runs.ts';
import { findShown } from '../shown-session.ts';
import type { SessionReader } from '../shown-session.ts';
import type { TurnEnd } from '../turn-watch.ts';
import type { CallProgress } from './call-progress.ts';
import { getSessionInput, sendMessageInput, toToolResult } from './mcp-tools.ts';
import type { ToolResult } from './mcp-tools.ts';
import type { Ask } from './questions.ts';

export interface ToolDeps {
  readonly sessions: Sessions;
  readonly runs: ServiceRuns;
  readonly clock: Clock;
}

export interface ToolCall {
  readonly service: Service;
  readonly payer: PayingKey;
  readonly seesAll: boolean;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Gives the result of a message whose turn the caller waits for. */
  settle(sent: SentMessage): Promise<object>;
}

export type CallTool = (call: ToolCall, deps: ToolDeps) => Promise<object>;

const MAX_WAIT_MS = 5 * 60_000;
/** Most events of a turn or a page in one result; the rest is read with `get_session`. */
const MAX_EVENTS = 200;
const MAX_SIZE = 1024 * 1024;

/** Tools by name. Each throws a `GatewayError`, `invalid_request` for arguments that are wrong. */
export const TOOL_CALLS: ReadonlyMap<string, CallTool> = new Map([
  ['send_message', sendMessage],
  ['get_session', getSession],
]);

/** True for a call whose answer may take minutes. */
export function mayWait(args: unknown): boolean {
  return (args as { wait?: unknown } | null | undefined)?.wait === true;
}

async function sendMessage(call: ToolCall, deps: ToolDeps): Promise<object> {
  const { message, wait } = readMessage(call.arguments);
  // The result has the events of the turn, so the caller must be able to read the Session.
  if (wait && message.sessionId !== undefined)
    await findShown(deps.sessions, call, message.sessionId);
  const sent = await deps.runs.send(call.service, call.payer, message);
  if (wait) return call.settle(sent);
  return toToolResult({ session_id: sent.sessionId, events: [sent.event] });
}

/** `content` in place of `input` is a list of parts, as in a REST run. */
function readMessage({ content, ...args }: ToolCall['arguments']): {
  message: ServiceMessage;
  wait: boolean;
} {
  if (content !== undefined && args['input'] !== undefined) throw inputOrContent();
  const own = content === undefined ? {} : { input: parseInput(messageParts, content, 'content') };
  const { input, session_id: sessionId, wait } = parseInput(sendMessageInput, { ...args, ...own });
  return {
    message: {
      content: typeof input === 'string' ? [{ type: 'text', text: input }] : input,
      contentName: content === undefined ? 'input' : 'content',
      sessionId,
      unlessWaiting: true,
    },
    wait: wait === true,
  };
}

/**
 * A message that a call sent before.
 *
 * @throws GatewayError `not_found` for one that is gone, or in a Session that is not shown to the caller
 */
export async function findSent(
  sessions: Sessions,
  caller: SessionReader,
  { sessionId, messageId }: Record<'sessionId' | 'messageId', string>,
): Promise<SentMessage> {
  await findShown(sessions, caller, sessionId);
  const { events } = await sessions.read(caller.service.organization, sessionId, {
    order: 'desc',
    limit: 1,
    matches: ({ id, type }) => id === messageId && type === 'user.message',
  });
  if (events[0]) return { sessionId, event: events[0].event };
  throw new GatewayError('not_found', { message: 'the message is gone' });
}

/** The turn of a message up to now. */
export interface TurnSoFar {
  /** The message and the events after it, as many as a result may hold. */
  readonly events: readonly SessionEvent[];
  /** Undefined during the turn. */
  readonly end: TurnEnd | undefined;
}

/** The result of a call that waits, the same on every process. */
export function toTurnResult(sessionId: string, { events, end }: TurnSoFar): ToolResult {
  const status = end === undefined ? 'running' : end.reason ? 'idle' : 'terminated';
  const stop_reason = end?.reason ?? null;
  return toToolResult({ session_id: sessionId, events, status, stop_reason });
}

/** Collects the events of a turn for a result. */
export class TurnEvents {
  readonly list: SessionEvent[];
  #size = 0;

  constructor({ event }: SentMessage) {
    this.list = [event];
  }

  get isFull(): boolean {
    return this.list.length >= MAX_EVENTS || this.#size >= MAX_SIZE;
  }

  add(event: SessionEvent): void {
    if (this.isFull) return;
    this.list.push(event);
    this.#size += approximateSize(event);
  }
}

export interface TurnWait {
  readonly service: Service;
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal;
  /** Receives the progress of the turn. */
  readonly progress: CallProgress;
  /** Default: the turn has ended for the caller where it waits for an answer. */
  readonly ask?: Ask | undefined;
}

/** Waits for the end of the turn, for as long and for as many events as one call may. */
export async function waitForTurn(
  sent: SentMessage,
  { service: { organization }, signal, progress, ask }: TurnWait,
  { sessions, clock }: ToolDeps,
): Promise<TurnSoFar> {
  const { sessionId, event } = sent;
  const events = new TurnEvents(sent);
  const enough = new AbortController();
  const stop = (): void => enough.abort();
  const timer = clock.setTimeout(stop, MAX_WAIT_MS);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  let asking: TurnEnd | undefined;
  const tell = async (item: PlacedEvent | EventDelta): Promise<void> => {
    if (!isPlaced(item)) return;
    asking = undefined;
    events.add(item.event);
    if (events.isFull) stop();
    await progress.take(item.event);
  };
  const outlasts = async (idle: SessionEvent, end: TurnEnd): Promise<boolean> => {
    const { awaiting } = await sessions.get(organization, sessionId);
    // Read from the log, it may be one that was answered long ago.
    if (!awaitedBy(idle).every((id) => awaiting.includes(id))) return true;
    if (!end.isOwn || !(await ask?.())) return false;
    asking = end;
    return true;
  };
  try {
    await progress.begin(sent);
    const turn = { organization, sessionId, messageId: event.id, signal: enough.signal };
    const end = await followTurn(sessions, { ...turn, tell, outlasts });
    return { events: events.list, end: end ?? asking };
  } finally {
    progress.end();
    timer.cancel();
    signal.removeEventListener('abort', stop);
  }
}

async function getSession(call: ToolCall, { sessions }: ToolDeps): Promise<ToolResult> {
  const { organization } = call.service;
  const { session_id: id, after } = parseInput(getSessionInput, call.arguments);
  const { status } = await findShown(sessions, call, id);
  const { events, next } = await sessions.read(organization, id, {
    after: await placeOf(sessions, { organization, id, after }),
    limit: MAX_EVENTS,
    maxSize: MAX_SIZE,
  });
  return toToolResult({
    session_id: id,
    status,
    events: events.map(({ event }) => event),
    has_more: next !== null,
  });
}

/** Looked for from the end, where those who read on are. */
async function placeOf(
  sessions: Sessions,
  { organization, id, after }: { organization: string; id: string; after?: string | undefined },
): Promise<number | undefined> {
  if (after === undefined) return undefined;
  const { events } = await sessions.read(organization, id, {
    order: 'desc',
    limit: 1,
    matches: (event) => event.id === after,
  });
  if (events[0]) return events[0].seq;
  const message = 'after: no event of this session';
  throw new GatewayError('invalid_request', { message, param: 'after' });
}
