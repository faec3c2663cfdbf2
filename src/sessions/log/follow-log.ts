import { Inbox } from './inbox.ts';
import type { EventDelta, PlacedEvent } from './session-event.ts';
import { isFollowed } from './session-log.ts';
import type { SessionLog } from './session-log.ts';

export interface FollowFrom {
  readonly id: string;
  /** Everything after this number. */
  readonly after: number;
  readonly signal: AbortSignal;
  /** Types of events whose parts are wanted, too. */
  readonly deltas: readonly string[];
}

/** These are the last. */
const LAST = new Set<string>(['session.status_terminated', 'session.deleted']);

/**
 * The log from a position on, then new events, each event once and in order. The store notifies of every
 * append, of this or another process; events are always read from the log. Parts of events come between the
 * events appended before and after them.
 */
export async function* followLog(
  log: SessionLog,
  { id, after, signal, deltas }: FollowFrom,
): AsyncGenerator<PlacedEvent | EventDelta> {
  const inbox = new Inbox(deltas, signal, log.tails.wakes);
  const tail = log.tails.join(id, inbox);
  let last = after;
  try {
    while (!signal.aborted) {
      if (inbox.answer()) {
        const start = last;
        for (let isMore = true; isMore;) {
          const chunk = await tail.read(last);
          isMore = isFollowed(chunk);
          for (const placed of chunk) {
            // Rows of a deleted Session go in no order.
            if (signal.aborted || placed.seq !== last + 1) return;
            yield* inbox.takeOf(placed.event);
            yield placed;
            last = placed.seq;
            if (LAST.has(placed.event.type)) return;
          }
        }
        if (last === start && (await isOver(log, id))) return;
      }
      yield* inbox.take();
      await inbox.next();
    }
  } finally {
    tail.leave();
    inbox.close();
  }
}

async function isOver(log: SessionLog, id: string): Promise<boolean> {
  const row = (await log.find(id))?.value;
  return !row || row.status === 'terminated';
}
