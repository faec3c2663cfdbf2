import { parseKeepingRaw, stringifyWithRaw } from '../../core/json/raw.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { RequestPeek } from '../protocol.ts';
import { isForeignToken, TOKEN_MARK } from '../canonical/reasoning-token.ts';
import type { Members } from './codec/members.ts';

/** Messages without the thinking of providers of other protocols. */
interface OwnThinking {
  /** JSON. */
  readonly messages: string;
  /** A loop of calls that began with such a thought continues. */
  readonly isWithinUnthought: boolean;
}

/**
 * The `messages` without the thinking that a provider of another protocol gave: one that speaks
 * Messages did not sign it and would refuse the request. Undefined when there is none.
 */
export function withoutForeignThinking({ body, json }: RequestPeek): OwnThinking | undefined {
  const member = json.maySee(TOKEN_MARK) && json.find('messages');
  if (!member) return undefined;
  const text = body.toString('utf8', member.valueStart, member.valueEnd);
  const messages = parseKeepingRaw(text, ['input']) as readonly Members[];
  if (!messages.some(({ content }) => isOfOthers(content))) return undefined;
  return {
    messages: stringifyWithRaw(messages.flatMap(withoutForeign)),
    isWithinUnthought: isWithinUnthought(messages),
  };
}

/** The first step of a loop thinks for all of it; user texts with or after results end none. */
function isWithinUnthought(messages: readonly Members[]): boolean {
  const asked = messages.findLastIndex(
    (message, at) =>
      message['role'] === 'user' && !hasResults(message) && !hasResults(messages[at - 1]),
  );
  const loop = messages.slice(asked + 1);
  const first = loop.find(({ role }) => role === 'assistant');
  if (!first || !isOfOthers(first['content']) || !loop.some(hasResults)) return false;
  const [block] = withoutForeign(first).flatMap(({ content }) => content);
  return !hasType(block, 'thinking') && !hasType(block, 'redacted_thinking');
}

function hasResults(message: Members | undefined): boolean {
  const content = message?.['content'];
  return Array.isArray(content) && content.some((block) => hasType(block, 'tool_result'));
}

function hasType(block: unknown, type: string): boolean {
  return isJsonObject(block) && block['type'] === type;
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

/** Thinking next to foreign thinking comes from the same answer. */
function isUnsigned(block: unknown): boolean {
  return isJsonObject(block) && block['type'] === 'thinking' && !block['signature'];
}
