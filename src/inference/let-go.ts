import { Buffer } from 'node:buffer';
import type { RequestPeek, Wire } from '../protocols/protocol.ts';
import type { Call } from './types.ts';

const NO_BYTES = Buffer.alloc(0);

/**
 * Lets go of the bytes of a request that is not sent again, while its answer is still to come. They
 * are kept where something reads them later: an answer that is understood by its request, work that
 * outlives the call, media that was put into them, an answer of our own. Idempotent.
 */
export function letGo(call: Call, wire: Wire): void {
  const { peek, media, request } = call;
  const { protocol, tracker } = request;
  if (wire.readsRequest || protocol.answerLocally || media || tracker || peek.form) return;
  // The objects themselves, because parts of a call that is under way hold on to them.
  peek.json.discard();
  const nothing: Partial<RequestPeek> = { body: NO_BYTES, members: [] };
  Object.assign(peek, nothing);
  request.body = NO_BYTES;
  request.onBodySpent?.();
}
