import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { approximateSize } from '../../../core/approximate-size.ts';
import type { Clock } from '../../../core/clock.ts';
import { GatewayError } from '../../../core/errors.ts';
import { parseInput } from '../../../sessions/parse-input.ts';
import type { EventDelta, PlacedEvent, SessionEvent } from '../../../sessions/session-event.ts';
import type { Sessions } from '../../../sessions/sessions.ts';
import type { PayingKey } from '../../../usage/principal.ts';
import { followTurn, isPlaced } from '../follow-turn.ts';
import { toMessage } from '../read-run.ts';
import type { Service } from '../service-desk.ts';
import type { SentMessage, ServiceRuns } from '../service-runs.ts';
import { getSessionInput, sendMessageInput, toToolResult } from './mcp-tools.ts';

export interface ToolDeps {
  readonly sessions: Sessions;
  readonly runs: ServiceRuns;
  readonly clock: Clock;
}

export interface ToolCall {
  readonly service: Service;
  readonly payer: PayingKey;
  readonly arguments: unknown;
  /** Nobody waits any more. */
  readonly signal: AbortSignal;
  /** Told of every event of a turn that is waited for. */
  progress(event: SessionEvent): Promise<void>;
}

export type CallTool = (call: ToolCall, deps: ToolDeps) => Promise<CallToolResult>;

const MAX_WAIT_MS = 5 * 60_000;
/** What one result holds of a turn or a page; the rest is read with `get_session`. */
const MAX_EVENTS = 200;
const MAX_SIZE = 1024 * 1024;

/** By name. Each throws `invalid_request` for arguments that are wrong, and others of a `GatewayError`. */
export const TOOL_CALLS: ReadonlyMap<string, CallTool> = new Map([
  ['send_message', sendMessage],
  ['get_session', getSession],
]);

/** True for a call whose answer may take minutes. */
export function mayWait(args: unknown): boolean {
  return (args as { wait?: unknown } | null | undefined)?.wait === true;
}

async function sendMessage(call: ToolCall, deps: ToolDeps): Promise<CallToolResult> {
  const input = parseInput(sendMessageInput, call.arguments);
  const sent = await deps.runs.send(call.service, call.payer, {
    ...toMessage(input),
    unlessWaiting: true,
  });
  const { sessionId, event } = sent;
  if (input.wait !== true) return toToolResult({ session_id: sessionId, events: [event] });
  return toToolResult({ session_id: sessionId, ...(await waitForTurn(sent, call, deps)) });
}

async function waitForTurn(
  { sessionId, event }: SentMessage,
  { service, signal, progress }: ToolCall,
  { sessions, clock }: ToolDeps,
): Promise<object> {
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
    await progress(item.event);
  };
  try {
    const end = await followTurn(sessions, {
      organization: service.organization,
      sessionId,
      messageId: event.id,
      signal: enough.signal,
      tell,
    });
    const status = end === undefined ? 'running' : end.reason ? 'idle' : 'terminated';
    return { events, status, stop_reason: end?.reason ?? null };
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', stop);
  }
}

async function getSession(
  { service: { organization }, arguments: args }: ToolCall,
  { sessions }: ToolDeps,
): Promise<CallToolResult> {
  const { session_id: id, after } = parseInput(getSessionInput, args);
  const { status } = await sessions.get(organization, id);
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
