import type { EventDelta, PlacedEvent, SessionEvent } from '../../sessions/log/session-event.ts';
import type { Sessions } from '../../sessions/sessions.ts';
import { TURNING, TurnWatch } from './turn-watch.ts';
import type { TurnEnd } from './turn-watch.ts';

export interface TurnToFollow {
  readonly organization: string;
  readonly sessionId: string;
  /** The `user.message` that the turn is for. */
  readonly messageId: string;
  /** Ends the wait; the turn continues. */
  readonly signal: AbortSignal;
  /** Types of events whose parts are wanted, too. Default: none. */
  readonly deltas?: readonly string[];
  /** Called after `tell` with the event by which a turn waits for its client: true to follow on. Default: false. */
  outlasts?(event: SessionEvent, end: TurnEnd): boolean | Promise<boolean>;
  /** Receives everything from the start of the turn to its end, one after the other. */
  tell(item: PlacedEvent | EventDelta): void | Promise<void>;
}

/** Where the turn of a message is found. */
export type TurnPlace = Pick<TurnToFollow, 'organization' | 'sessionId' | 'messageId'>;

const PAGE = 100;

/**
 * Waits for the turn of a message, on whichever process it runs. Undefined when `signal` ended the wait.
 *
 * @throws GatewayError `not_found`; what `tell` throws
 */
export async function followTurn(
  sessions: Sessions,
  turn: TurnToFollow,
): Promise<TurnEnd | undefined> {
  const { organization, sessionId, messageId, signal, deltas, tell } = turn;
  const watch = new TurnWatch(messageId);
  for await (const event of before(sessions, turn)) watch.take(event);
  const after = messageId;
  const followed = await sessions.follow(organization, sessionId, { after, signal, deltas });
  for await (const item of followed) {
    const wasCurrent = watch.isCurrent;
    const event = isPlaced(item) ? item.event : undefined;
    const end = event && watch.take(event);
    if (wasCurrent || watch.isCurrent) await tell(item);
    if (!event || !end) continue;
    if (end.type === 'requires_action' && (await turn.outlasts?.(event, end))) continue;
    return end;
  }
  return undefined;
}

export function isPlaced(item: PlacedEvent | EventDelta): item is PlacedEvent {
  return 'seq' in item;
}

/**
 * Reads as much of the turn of a message as there is now, on whichever process it runs.
 *
 * @param take receives each event of the turn; true ends the reading
 * @throws GatewayError `not_found`
 */
export async function readTurn(
  sessions: Sessions,
  { organization, sessionId, messageId }: TurnPlace,
  take: (event: SessionEvent, end: TurnEnd | undefined) => boolean,
): Promise<TurnWatch> {
  const watch = new TurnWatch(messageId);
  let isAfter = false;
  let after: number | undefined;
  do {
    const matches = isAfter ? undefined : ({ type }: SessionEvent) => TURNING.includes(type);
    const page = await sessions.read(organization, sessionId, { after, limit: PAGE, matches });
    after = page.next ?? undefined;
    for (const { seq, event } of page.events) {
      const wasCurrent = watch.isCurrent;
      const end = watch.take(event);
      if ((wasCurrent || watch.isCurrent) && take(event, end)) return watch;
      // After the message every event may be part of its turn.
      if (event.id !== messageId) continue;
      isAfter = true;
      after = seq;
      break;
    }
  } while (after !== undefined);
  return watch;
}

/**
 * Yields the events that decide whose turn it is when the message arrives, the message included.
 */
async function* before(
  sessions: Sessions,
  { organization, sessionId, messageId, signal }: TurnToFollow,
): AsyncGenerator<SessionEvent> {
  let after: number | undefined;
  do {
    const page = await sessions.read(organization, sessionId, {
      after,
      limit: PAGE,
      matches: ({ type }) => TURNING.includes(type),
    });
    for (const { event } of page.events) {
      yield event;
      if (event.id === messageId) return;
    }
    after = page.next ?? undefined;
  } while (after !== undefined && !signal.aborted);
}
