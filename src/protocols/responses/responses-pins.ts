import { createHash } from 'node:crypto';
import type { JsonDocument } from '../../core/json/json-document.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { fromSignatureText } from '../canonical/reasoning-token.ts';
import { ENCRYPTED_MARK } from '../scan-request.ts';

type Members = Readonly<Record<string, unknown>>;

/**
 * Lists the things that an earlier answer left at its provider and this request refers to, the
 * latest last.
 */
export function pinsOfRequest(json: JsonDocument): string[] {
  const previous = json.get('previous_response_id');
  const input = json.maySee(ENCRYPTED_MARK) ? json.get('input') : undefined;
  const items = Array.isArray(input) ? input : [];
  return [...itemPins(items), ...(isName(previous) ? [responsePin(previous)] : [])];
}

/** Lists the things that this answer leaves at its provider. */
export function pinsOfAnswer({ id, output }: Members): string[] {
  const items = Array.isArray(output) ? output : [];
  return [...(isName(id) ? [responsePin(id)] : []), ...itemPins(items)];
}

/**
 * Pins of the encrypted contents of items. Reasoning of another protocol's provider is not bound to
 * an account.
 */
export function itemPins(items: readonly unknown[]): string[] {
  return items.flatMap((item) => {
    const content = isJsonObject(item) ? item['encrypted_content'] : undefined;
    if (!isName(content) || fromSignatureText(content, 'responses').origin !== 'responses')
      return [];
    return [`encrypted:${createHash('sha256').update(content).digest('base64url')}`];
  });
}

function responsePin(id: string): string {
  return `response:${id}`;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
