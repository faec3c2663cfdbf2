import type { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { SPOOL_MEMORY_BYTES } from '../core/memory/spool.ts';
import type { Spools } from '../core/memory/spool.ts';
import type { SpooledBody } from '../core/memory/spooled-body.ts';
import {
  bodyTooLarge,
  cutOff,
  declaredLength,
  discardRest,
  refuseUnread,
} from '../surfaces/bodies/refuse-body.ts';
import type { BodyBounds, BodySource } from '../surfaces/read-body.ts';

export interface ReceiveOptions extends BodyBounds {
  spools: Spools;
  /** True: all of it is here before it is sent on, because it is to be signed. */
  whole: boolean;
}

export interface ReceivedBody {
  /** Undefined for none, or an empty one. */
  readonly body: SpooledBody | undefined;
  /** Drops unread bytes, and releases memory and disk. Idempotent. */
  dispose(): Promise<void>;
}

/**
 * The body of a request on its way to an upstream: read from the client as fast as the upstream takes
 * it, where its length is known; else it is spooled first, since it is sent with a length. A content
 * coding is the API's business: its name goes along with the bytes.
 *
 * @throws GatewayError `body_too_large`; `no_room_for_body`; `invalid_request` when the client stops
 *   in the middle; `persistence_failed` when there is no room for it on disk
 */
export async function receiveBody(
  source: BodySource,
  { limit, holder, spools, whole }: ReceiveOptions,
): Promise<ReceivedBody> {
  const { request, intake } = source;
  const refusal = refuseUnread(request, limit);
  if (refusal) throw refusal;
  const length = declaredLength(request);
  if (length === 0) return { body: undefined, dispose: async () => undefined };
  if (length !== undefined && !whole) return passOn(source, length);
  const spool = spools.create();
  try {
    const room = intake.reserve(holder, Math.min(length ?? limit, SPOOL_MEMORY_BYTES));
    if (room) await room;
    intake.invite();
    for await (const chunk of chunksOf(request)) {
      if (spool.length + chunk.length > limit) throw bodyTooLarge(limit);
      await spool.write(chunk);
    }
  } catch (error) {
    await spool.dispose();
    throw discardRest(request, error);
  }
  return { body: spool.length > 0 ? spool : undefined, dispose: () => spool.dispose() };
}

/** Can be read once: sent bytes are gone. */
function passOn({ request, intake }: BodySource, length: number): ReceivedBody {
  let isDisposed = false;
  return {
    body: {
      length,
      open() {
        intake.invite();
        return chunksOf(request);
      },
    },
    async dispose() {
      if (isDisposed || request.complete) return;
      isDisposed = true;
      discardRest(request, undefined);
    },
  };
}

/** Leaves the request open, so that a refusal can be answered. */
async function* chunksOf(request: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    yield* request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
  } catch (error) {
    throw cutOff(error);
  }
}
