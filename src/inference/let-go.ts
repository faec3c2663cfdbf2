import { Buffer } from 'node:buffer';
import { scanJson } from '../core/json/json-document.ts';
import type { RequestPeek, Wire } from '../protocols/protocol.ts';
import type { Call } from './types.ts';

const NO_BYTES = Buffer.alloc(0);
const NOTHING = scanJson(Buffer.from('{}'));

/**
 * Lets go of the bytes of a request that is not sent again, while its answer is still to come. They
 * are kept where something reads them later: an answer that is understood by its request, work that
 * outlives the call, media that was put into them, an answer of our own. Idempotent.
 */
export function letGo(call: Call, wire: Wire): void {
  const { peek, protocol, media, work } = call;
  if (wire.readsRequest || protocol.answerLocally || media || work || peek.form) return;
  // The object itself, because parts of a call that is under way hold on to it.
  const nothing: Partial<RequestPeek> = { body: NO_BYTES, members: [], json: NOTHING };
  Object.assign(peek, nothing);
  call.release();
}
