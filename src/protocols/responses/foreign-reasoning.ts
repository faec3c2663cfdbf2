import { isJsonObject } from '../../core/json/value.ts';
import type { RequestPeek } from '../protocol.ts';
import { fromSignatureText, TOKEN_MARK } from '../canonical/reasoning-token.ts';
import { readElements } from './public/json-walk.ts';

/**
 * The JSON of `input` without the reasoning that a provider of another protocol gave: one that speaks
 * Responses cannot decrypt it and would refuse the request. Undefined when there is none.
 */
export function withoutForeignReasoning({ body, json }: RequestPeek): string | undefined {
  const member = json.maySee(TOKEN_MARK) && json.find('input');
  if (!member) return undefined;
  const input = json.get('input');
  if (!Array.isArray(input) || !input.some(isForeign)) return undefined;
  const text = body.toString('utf8', member.valueStart, member.valueEnd);
  const kept = readElements(text, 0).filter((_element, index) => !isForeign(input[index]));
  return `[${kept.map(({ start, end }) => text.slice(start, end)).join(',')}]`;
}

function isForeign(item: unknown): boolean {
  if (!isJsonObject(item) || item['type'] !== 'reasoning') return false;
  const content = item['encrypted_content'];
  return (
    typeof content === 'string' && fromSignatureText(content, 'responses').origin !== 'responses'
  );
}
