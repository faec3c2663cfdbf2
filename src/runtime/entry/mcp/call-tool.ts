import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { approximateSize } from '../../../core/json/approximate-size.ts';
import type { Clock } from '../../../core/time/clock.ts';
import { GatewayError } from '../../../core/errors.ts';
import { parseInput } from '../../../sessions/log/parse-input.ts';
import type { EventDelta, PlacedEvent } from '../../../sessions/log/session-event.ts';
import type { Sessions } from '../../../sessions/sessions.ts';
import type { PayingKey } from '../../../usage/principal.ts';
import { followTurn, isPlaced } from '../follow-turn.ts';
import { inputOrContent, messageParts } from '../read-run.ts';
import type { Service } from '../service-desk.ts';
import type { SentMessage, ServiceMessage, ServiceRuns } from '../service-runs.ts';
import { findShown } from '../shown-session.ts';
import type { SessionReader } from '../shown-session.ts';
import type { CallProgress } from './call-progress.ts';
import { getSessionInput, sendMessageInput, toToolResult } from './mcp-tools.ts';

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
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal;
  /** Receives the progress of the turn that is waited for. */
  readonly progress: CallProgress;
}

export type CallTool = (call: ToolCall, deps: ToolDeps) => Promise<CallToolResult>;

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

async function sendMessage(call: ToolCall, deps: ToolDeps): Promise<CallToolResult> {
  const { message, wait } = readMessage(call.arguments);
  // The result has the events of the turn, so the caller must be able to read the Session.
  if (wait && message.sessionId !== undefined)
    await findShown(deps.sessions, call, message.sessionId);
  const sent = await deps.runs.send(call.service, call.payer, message);
  if (wait) return waitForTurn(sent, call, deps);
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

/** The result of a call that waits: the events of the turn, the same on every process. */
export async function waitForTurn(
  sent: SentMessage,
  { service, signal, progress }: Omit<ToolCall, 'arguments' | 'payer' | 'seesAll'>,
  { sessions, clock }: ToolDeps,
): Promise<CallToolResult> {
  const { sessionId, event } = sent;
  const events = [event];
  const enough = new AbortController();
  const stop = (): void => enough.abort();
  const timer = clock.setTimeout(stop, MAX_WAIT_MS);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  let size = 0;
  const tell = async (item: PlacedEvent | EventDelta): Promise<void> => {
    if (!isPlaced(item)) return;
    events.push(item.event);
    size += approximateSize(item.event);
    if (events.length >= MAX_EVENTS || size >= MAX_SIZE) stop();
    await progress.take(item.event);
  };
  try {
    await progress.begin(sent);
    const end = await followTurn(sessions, {
      organization: service.organization,
      sessionId,
      messageId: event.id,
      signal: enough.signal,
      tell,
    });
    const status = end === undefined ? 'running' : end.reason ? 'idle' : 'terminated';
    const stop_reason = end?.reason ?? null;
    return toToolResult({ session_id: sessionId, events, status, stop_reason });
  } finally {
    progress.end();
    timer.cancel();
    signal.removeEventListener('abort', stop);
  }
}

async function getSession(call: ToolCall, { sessions }: ToolDeps): Promise<CallToolResult> {
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
