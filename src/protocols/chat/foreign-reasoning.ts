import { parseKeepingRaw, stringifyWithRaw } from '../../core/json/raw.ts';
import { isJsonObject } from '../../core/json/value.ts';
import type { RequestPeek } from '../protocol.ts';
import { isForeignToken, TOKEN_MARK } from '../canonical/reasoning-token.ts';

/**
 * The JSON of `messages` without the reasoning of providers of other protocols, which none that
 * speaks chat can read. Undefined when there is none.
 */
export function withoutForeignReasoning({ body, json }: RequestPeek): string | undefined {
  const member = json.maySee(TOKEN_MARK) && json.find('messages');
  if (!member) return undefined;
  const text = body.toString('utf8', member.valueStart, member.valueEnd);
  const messages = parseKeepingRaw(text, ['arguments']);
  if (!Array.isArray(messages) || !messages.some(isOfOthers)) return undefined;
  return stringifyWithRaw(messages.map(withoutReasoning));
}

/** An answer is that of one provider, so all its reasoning goes. */
function withoutReasoning(message: unknown): unknown {
  if (!isOfOthers(message)) return message;
  const {
    reasoning_details: _details,
    reasoning_content: _text,
    reasoning: _same,
    ...rest
  } = message;
  return rest;
}

function isOfOthers(message: unknown): message is Record<string, unknown> {
  if (!isJsonObject(message)) return false;
  const details = message['reasoning_details'];
  return Array.isArray(details) && details.some(isForeign);
}

function isForeign(detail: unknown): boolean {
  if (!isJsonObject(detail)) return false;
  return isForeignToken(detail['signature'] ?? detail['data'], 'chat');
}
