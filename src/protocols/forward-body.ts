import type { Buffer } from 'node:buffer';
import { quirkEdits } from '../core/json/json-quirks.ts';
import type { JsonMember } from '../core/json/json-member.ts';
import { applyPatches, findPatches, patchInPieces } from '../core/json/splice.ts';
import type { JsonEdit } from '../core/json/splice.ts';
import type { SpooledBody } from '../core/memory/spooled-body.ts';
import type { EncodeOptions, RequestPeek } from './protocol.ts';

/** Size from which a copy of the client's bytes costs more than sending them in pieces. */
const MIN_PIECES_BYTES = 64 * 1024;

/**
 * The provider's body on the same protocol: the client's bytes with the model replaced, further
 * edits made and quirks applied. Throws `unsupported_feature` for a member that the provider
 * refuses.
 */
export function forwardBody(
  { model: asked, body, members }: Pick<RequestPeek, 'model' | 'body' | 'members'>,
  { model, quirks }: Pick<EncodeOptions, 'model' | 'quirks'>,
  further: readonly JsonEdit[] = [],
): Buffer | SpooledBody {
  const edits: JsonEdit[] = [];
  if (model !== asked) edits.push({ op: 'set', key: 'model', json: JSON.stringify(model) });
  for (const edit of further) edits.push(edit);
  if (quirks !== undefined) edits.push(...quirkEdits(body, members, quirks));
  return editBody(body, members, edits);
}

/** A request's body with edits made; a large one is the client's own bytes around the changes. */
export function editBody(
  body: Buffer,
  members: readonly JsonMember[],
  edits: readonly JsonEdit[],
): Buffer | SpooledBody {
  const patches = findPatches(body, members, edits);
  if (patches.length === 0) return body;
  const patch = body.length > MIN_PIECES_BYTES ? patchInPieces : applyPatches;
  return patch(body, patches);
}
