import { parseKeepingRaw, stringifyWithRaw } from '../../core/json/raw.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { RequestPeek } from '../protocol.ts';
import { isForeignToken, TOKEN_MARK } from '../canonical/reasoning-token.ts';
import { fieldOf, toList } from './fields.ts';

/**
 * The JSON of `contents` without what providers of other protocols thought and signed: one that speaks
 * generate-content would refuse their signatures. Undefined when there is none.
 */
export function withoutForeignSignatures({ body, json }: RequestPeek): string | undefined {
  const member = json.maySee(TOKEN_MARK) && json.find('contents');
  if (!member) return undefined;
  const text = body.toString('utf8', member.valueStart, member.valueEnd);
  const contents = toList(parseKeepingRaw(text, ['args', 'response']));
  if (!contents.some(isOfOthers)) return undefined;
  return stringifyWithRaw(contents.flatMap(withoutForeign));
}

/** A content that was nothing else goes as a whole, for empty ones are refused. */
function withoutForeign(content: unknown): readonly unknown[] {
  if (!isOfOthers(content)) return [content];
  const parts = toList(content['parts']).flatMap(unsigned);
  return parts.length > 0 ? [{ ...content, parts }] : [];
}

/** Thoughts go with their signature, and texts and calls stay without it. */
function unsigned(part: unknown): readonly unknown[] {
  if (!isForeign(part)) return [part];
  const { thoughtSignature: _camel, thought_signature: _snake, ...rest } = part;
  return rest['thought'] === true || rest['text'] === '' ? [] : [rest];
}

function isOfOthers(content: unknown): content is Record<string, unknown> {
  return isJsonObject(content) && toList(content['parts']).some(isForeign);
}

function isForeign(part: unknown): part is Record<string, unknown> {
  return (
    isJsonObject(part) && isForeignToken(fieldOf(part, 'thoughtSignature'), 'generate-content')
  );
}
