import { parseKeepingRaw, stringifyWithRaw } from '../../core/json/raw.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { RequestPeek } from '../protocol.ts';
import { isForeignToken, TOKEN_MARK } from '../canonical/reasoning-token.ts';
import type { Members } from './codec/members.ts';

/**
 * The JSON of `messages` without the thinking that a provider of another protocol gave: one that
 * speaks Messages did not sign it and would refuse the request. Undefined when there is none.
 */
export function withoutForeignThinking({ body, json }: RequestPeek): string | undefined {
  const member = json.maySee(TOKEN_MARK) && json.find('messages');
  if (!member) return undefined;
  const text = body.toString('utf8', member.valueStart, member.valueEnd);
  const messages = parseKeepingRaw(text, ['input']) as readonly Members[];
  if (!messages.some(({ content }) => isOfOthers(content))) return undefined;
  return stringifyWithRaw(messages.flatMap(withoutForeign));
}

/** A message that was nothing else goes as a whole, for empty ones are refused. */
function withoutForeign(message: Members): readonly Members[] {
  const { content } = message;
  if (!Array.isArray(content) || !isOfOthers(content)) return [message];
  const own = content.filter((block: unknown) => !isForeign(block) && !isUnsigned(block));
  return own.length > 0 ? [{ ...message, content: own }] : [];
}

function isOfOthers(content: unknown): boolean {
  return Array.isArray(content) && content.some(isForeign);
}

function isForeign(block: unknown): boolean {
  if (!isJsonObject(block)) return false;
  const { type, signature, data } = block;
  if (type === 'thinking') return isForeignToken(signature, 'messages');
  return type === 'redacted_thinking' && isForeignToken(data, 'messages');
}

/** Beside foreign thinking it comes from the same answer. */
function isUnsigned(block: unknown): boolean {
  return isJsonObject(block) && block['type'] === 'thinking' && !block['signature'];
}
