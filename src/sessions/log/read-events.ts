import { approximateSize } from '../../core/json/approximate-size.ts';
import { GatewayError } from '../../core/errors.ts';
import type { PlacedEvent } from './session-event.ts';
import type { SessionLog } from './session-log.ts';
import type { SessionRow } from '../session-row.ts';
import type { EventPage, EventQuery } from '../sessions.ts';

const DEFAULT_LIMIT = 20;
/** Characters of one page: more would delay all others while they are written. */
const MAX_SIZE = 1024 * 1024;

/** One page of a log; shorter than asked for at its end, or when its events are large. */
export async function readEvents(
  log: SessionLog,
  { id, removed }: Pick<SessionRow, 'id' | 'removed'>,
  { after, order, limit = DEFAULT_LIMIT, maxSize = MAX_SIZE, matches }: EventQuery,
): Promise<EventPage> {
  const removedAt = removed?.at ?? null;
  const events: PlacedEvent[] = [];
  let size = 0;
  for await (const chunk of log.chunks(id, { after, order })) {
    for (const placed of chunk) {
      if (removed && placed.seq <= removed.upTo) continue;
      if (matches && !matches(placed.event)) continue;
      const last = events.at(-1);
      if (last && (events.length >= limit || size >= maxSize))
        return { events, next: last.seq, removedAt };
      events.push(placed);
      size += approximateSize(placed.event);
    }
  }
  return { events, next: null, removedAt };
}

/**
 * The position after which a follower begins: that of the event it saw last, or the end of the log. It may have
 * seen removed events or not.
 *
 * @throws GatewayError `invalid_request` for an id that is no event of the Session
 */
export async function startOf(
  log: SessionLog,
  { id, head, removed }: SessionRow,
  after: string | undefined,
): Promise<number> {
  if (after === undefined) return head;
  const seq = await log.numberOf(id, after);
  if (removed) return Math.max(seq ?? 0, removed.upTo);
  if (seq !== undefined) return seq;
  const message = 'Last-Event-ID: no event of this session';
  throw new GatewayError('invalid_request', { message, param: 'Last-Event-ID' });
}
