import type { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Spools } from '../../core/spool.ts';
import type { SpooledBody } from '../../core/spooled-body.ts';
import { bodyTooLarge, cutOff, discardRest, refuseUnread } from '../read-body.ts';

export interface ReceiveOptions {
  /** Bytes. */
  limit: number;
  spools: Spools;
  /** True: all of it is here before it is sent on, because it is to be signed. */
  whole: boolean;
}

export interface ReceivedBody {
  /** Undefined for none, or an empty one. */
  readonly body: SpooledBody | undefined;
  /** Lets go of what was not read, and gives memory and disk back. Idempotent. */
  dispose(): Promise<void>;
}

/**
 * The body of a request on its way to an upstream: read from the client as fast as the upstream takes
 * it, where its length is known; else it is spooled first, since it is sent with a length.
 *
 * @throws GatewayError `body_too_large`; `invalid_request` when the client stops in the middle;
 *   `persistence_failed` when there is no room for it
 */
export async function receiveBody(
  request: IncomingMessage,
  { limit, spools, whole }: ReceiveOptions,
): Promise<ReceivedBody> {
  const refusal = refuseUnread(request, limit);
  if (refusal) throw refusal;
  const { 'content-length': declared, 'transfer-encoding': coding } = request.headers;
  const length = Number(declared ?? 0);
  if (coding === undefined && length === 0)
    return { body: undefined, dispose: async () => undefined };
  if (coding === undefined && !whole) return passOn(request, length);
  const spool = spools.create();
  try {
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

/** Can be read once: what was sent on is nowhere any more. */
function passOn(request: IncomingMessage, length: number): ReceivedBody {
  let isDisposed = false;
  return {
    body: { length, open: () => chunksOf(request) },
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
