import type { Buffer } from 'node:buffer';
import { quirkEdits } from '../core/json-quirks.ts';
import { spliceJson } from '../core/json-splice.ts';
import type { JsonEdit } from '../core/json-splice.ts';
import type { EncodeOptions, RequestPeek } from './protocol.ts';

/**
 * The provider's body on the same protocol: the client's bytes with the model replaced, further edits
 * made and quirks applied. Throws `unsupported_feature` for a member that the provider refuses.
 */
export function forwardBody(
  { model: asked, body, members }: Pick<RequestPeek, 'model' | 'body' | 'members'>,
  { model, quirks }: Pick<EncodeOptions, 'model' | 'quirks'>,
  further: readonly JsonEdit[] = [],
): Buffer {
  const edits: JsonEdit[] = [];
  if (model !== asked) edits.push({ op: 'set', key: 'model', json: JSON.stringify(model) });
  for (const edit of further) edits.push(edit);
  if (quirks !== undefined) edits.push(...quirkEdits(members, quirks));
  return spliceJson(body, members, edits);
}
