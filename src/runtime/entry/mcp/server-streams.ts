import type { Timer } from '../../../core/time/clock.ts';
import { GatewayError } from '../../../core/errors.ts';
import type { CallResult } from '../../../inference/types.ts';
import type { Reply } from '../../../surfaces/http-exchange.ts';
import { watchCaller } from '../caller-watch.ts';
import type { EntryCall } from '../entry-call.ts';
import { createMessageStream } from '../message-stream.ts';
import { takesEvents } from '../reply-form.ts';
import { respondWith, toResumable } from './answer-requests.ts';
import { CallProgress } from './call-progress.ts';
import { findSent, toTurnResult, waitForTurn } from './call-tool.ts';
import { checkSession, ownerOf, sessionNamed } from './client-session.ts';
import { fromEventId, SERVER_ID } from './event-id.ts';
import type { CallPosition } from './event-id.ts';
import type { McpDeps } from './mcp-deps.ts';
import { orFailure } from './mcp-methods.ts';
import type { McpTransport } from './mcp-transports.ts';
import { askOver } from './questions.ts';
import { Refusal } from './refusal.ts';
import { enterRoom } from './stream-room.ts';

/** The streams that clients open by a GET. They hold nothing that is kept for a client. */
export interface ServerStreams {
  /**
   * Opens the server's own stream, or resumes that of a call after the event that `Last-Event-ID`
   * names: first the later events in the log of the Session, then each further one.
   *
   * @throws Refusal 405 without a session, 404 for one that is not open, 406 for a client that takes no
   *   events, 429 with too many streams, 400 for an event that cannot be resumed from
   */
  open(call: EntryCall): Promise<Reply | CallResult>;
}

/** Milliseconds after which an open stream counts as use of its session again. */
const USE_MS = 60 * 60_000;

export function createServerStreams(deps: McpDeps): ServerStreams {
  return {
    async open(call) {
      const { headers } = call.exchange.request;
      if (sessionNamed(call) === undefined) {
        const message = 'the event stream is for an initialized session, named by Mcp-Session-Id';
        throw new Refusal(405, message, { headers: { allow: 'POST, DELETE' } });
      }
      const transport = await checkSession(call, deps.transports);
      if (!takesEvents(headers.accept))
        throw new Refusal(406, 'Accept: text/event-stream is required');
      const last = headers['last-event-id']?.toString() || SERVER_ID;
      const place = fromEventId(last);
      if (!place) throw unknownEvent();
      // A 204 stops the reconnects of the client.
      if (place.type === 'end') return { status: 204 };
      const leave = enterRoom(deps.room, call.service.organization);
      const serving = { call, transport, leave, deps };
      if (place.type === 'server') return stand(serving);
      return resume(place.at, serving).catch((thrown: unknown) => {
        leave();
        throw thrown;
      });
    },
  };
}

interface Serving {
  readonly call: EntryCall;
  readonly transport: McpTransport;
  readonly deps: McpDeps;
  /** Gives the room of the stream back. */
  leave(): void;
}

/** Ends when the client leaves, its session is closed, its key is refused, or the gateway stops. */
function stand({ call, transport, deps, leave }: Serving): CallResult {
  // Its client could make no call with a bound of one at a time.
  call.leave();
  const caller = watchCaller(call.exchange, deps.standing);
  const stream = createMessageStream('sse', { clock: deps.clock, caller });
  void toResumable(stream, transport).mark(SERVER_ID);
  const end = (): void => {
    forget();
    forgetKey();
    leave();
    caller.done();
    stream.end();
  };
  const forget = whileOpen({ call, transport, deps }, end);
  const forgetKey = call.watchKey(end);
  if (caller.signal.aborted) end();
  else caller.signal.addEventListener('abort', end, { once: true });
  return stream.reply;
}

/** Calls back when the session is closed, and keeps it from being forgotten until then. */
function whileOpen(
  { call, transport: { id }, deps: { transports, clock } }: Omit<Serving, 'leave'>,
  onClosed: () => void,
): () => void {
  let timer: Timer | undefined;
  const look = async (): Promise<void> => {
    if (!(await transports.use(id, ownerOf(call)))) onClosed();
  };
  // A store that fails says nothing about the session.
  const onChange = (): void => void look().catch(() => undefined);
  const again = (): void => {
    timer = clock.setTimeout(() => {
      onChange();
      again();
    }, USE_MS);
  };
  const forget = transports.watch(id, onChange);
  again();
  return () => {
    forget();
    timer?.cancel();
  };
}

async function resume(
  at: CallPosition,
  { call, transport, deps, leave }: Serving,
): Promise<CallResult> {
  const { service, exchange } = call;
  const { clock, sessions } = deps;
  const { requestId, progressToken } = at;
  const sent = await findSent(sessions, call, at).catch((thrown: unknown) => {
    throw thrown instanceof GatewayError ? unknownEvent() : thrown;
  });
  call.leave();
  const caller = watchCaller(exchange, deps.active);
  const stream = createMessageStream('sse', { clock, caller });
  const way = toResumable(stream, transport);
  const progress = new CallProgress({ clock, channel: way, requestId, progressToken, before: at });
  const place = { organization: service.organization, sessionId: sent.sessionId };
  const ask = askOver(way, sessions, place);
  const work = (signal: AbortSignal): Promise<unknown> =>
    orFailure(async () => {
      const turn = await waitForTurn(sent, { service, progress, signal, ask }, deps);
      return toTurnResult(sent.sessionId, turn);
    });
  void respondWith({ id: requestId, isSlow: true, work }, { call, deps, transport, caller })
    .then((given) => way.finish(given))
    .finally(() => {
      leave();
      caller.done();
      stream.end();
    });
  return stream.reply;
}

function unknownEvent(): Refusal {
  return new Refusal(400, 'Last-Event-ID: no event that a stream of this server can go on from');
}
