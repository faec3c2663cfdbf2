import { toGatewayError } from '../../core/errors.ts';
import { stringifyWithRaw } from '../../core/json/raw.ts';
import type { Relay } from '../../inference/relay.ts';
import { errorBody } from '../../surfaces/envelopes.ts';
import type { EventDelta, PlacedEvent, SessionEvent } from './session-event.ts';

/** Frame that is sent at once, so that the client knows that it is connected before anything happens. */
const OPENED = Buffer.from(': connected\n\n');

/** Room for the client, again and again. */
export interface Room {
  /** Resolves when the client takes more, or is gone. */
  wait(): Promise<void>;
}

/** The bytes of an item on a stream. */
export type ToFrame = (item: PlacedEvent | EventDelta) => Buffer;

/**
 * Writes the followed events as server-sent events: `event` is the type, `id` the id of an event of the
 * history, so that a client that comes back can name the last one it saw. Ends with the log; when that fails,
 * with `event: error`.
 */
export async function streamEvents(
  followed: AsyncIterable<PlacedEvent | EventDelta>,
  relay: Relay,
  { room, requestId, toFrame }: { room: Room; requestId: string; toFrame: ToFrame },
): Promise<void> {
  relay.write(OPENED);
  try {
    for await (const item of followed) if (!relay.write(toFrame(item))) await room.wait();
    relay.end();
  } catch (thrown) {
    const data = JSON.stringify(errorBody(toGatewayError(thrown), 'resource', requestId));
    relay.end(Buffer.from(`event: error\ndata: ${data}\n\n`));
  }
}

/** An event that many follow is put into words once. */
export function createFrames(): ToFrame {
  const known = new WeakMap<SessionEvent, Buffer>();
  return (item) => {
    if (!isPlaced(item))
      return Buffer.from(`event: ${item.type}\ndata: ${stringifyWithRaw(item)}\n\n`);
    const { event } = item;
    const { type, id } = event;
    const frame =
      known.get(event) ??
      Buffer.from(`event: ${type}\nid: ${id}\ndata: ${stringifyWithRaw(event)}\n\n`);
    known.set(event, frame);
    return frame;
  };
}

function isPlaced(item: PlacedEvent | EventDelta): item is PlacedEvent {
  return 'seq' in item;
}
