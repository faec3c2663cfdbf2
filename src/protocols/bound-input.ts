import type { JsonDocument } from '../core/json/json-document.ts';
import { FILE_MARKS, ITEM_MARK, URL_MARKS } from './scan-request.ts';

/** More tokens than any provider counts for a picture. */
const TOKENS_PER_PICTURE = 16_384;
/** Members of a request that name a conversation or a prompt which the provider keeps. */
const KEPT = new Set([
  'previous_response_id',
  'conversation',
  'prompt',
  'previous_interaction_id',
  'cachedContent',
  'cached_content',
]);
const FILE = /"(?:file_id|file_url|file_?uri)"\s*:\s*"|"item_reference"/i;
/** Letters that are escaped without need, which could hide a name from these patterns. */
const HIDDEN = /\\u00[4-7]/i;
const DOCUMENT = /"type"\s*:\s*"document"/;
/** Addresses in parts of a prompt; those in arguments, results and citations are words. */
const PICTURE =
  /"(?:image_url|uri)"\s*:\s*"https?:|"(?:image_url|source)"\s*:\s*\{[^{}]*?"url"\s*:\s*"https?:/gi;

/**
 * Upper bound of prompt tokens: no tokenizer makes more tokens than there are bytes. `Infinity` for
 * a request that refers to input outside its bytes: a conversation, an item or a file at the
 * provider or at an address.
 */
export function boundInput(json: JsonDocument): number {
  const { body, members } = json;
  if (members.some(({ key }) => KEPT.has(key) && json.kindOf(key) !== 'null')) return Infinity;
  const mayFile = json.maySee(ITEM_MARK) || FILE_MARKS.some((mark) => json.maySee(mark));
  const mayFetch = URL_MARKS.some((mark) => json.maySee(mark));
  if (!mayFile && !mayFetch) return body.length;
  const text = body.toString('latin1');
  if (HIDDEN.test(text) || (mayFile && FILE.test(text))) return Infinity;
  const pictures = mayFetch ? (text.match(PICTURE)?.length ?? 0) : 0;
  if (pictures > 0 && DOCUMENT.test(text)) return Infinity;
  return body.length + pictures * TOKENS_PER_PICTURE;
}
