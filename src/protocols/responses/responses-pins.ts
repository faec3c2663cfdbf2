import { createHash } from 'node:crypto';
import type { JsonDocument } from '../../core/json/json-document.ts';
import { isJsonObject } from '../../core/json/value.ts';
import { fromSignatureText } from '../canonical/reasoning-token.ts';
import { ENCRYPTED_MARK, ITEM_MARK, REASONING_ID_MARK } from '../scan-request.ts';

type Members = Readonly<Record<string, unknown>>;

/** Most things of one answer that are noted, its own id among them. */
export const MAX_PINS = 256;
/** Marks of an input that may refer to earlier answers; without them it need not be parsed. */
const MARKS = [ENCRYPTED_MARK, ITEM_MARK, REASONING_ID_MARK];

/**
 * Lists the things that an earlier answer left at its provider and this request refers to, the
 * latest last.
 */
export function pinsOfRequest(json: JsonDocument): string[] {
  const previous = json.get('previous_response_id');
  const input = MARKS.some((mark) => json.maySee(mark)) ? json.get('input') : undefined;
  const items = (Array.isArray(input) ? input : []).filter(isJsonObject);
  const pins = items.flatMap((item) =>
    isLookedUp(item) ? named(item['id'], itemPin) : encryptedPins(item),
  );
  return [...pins, ...named(previous, responsePin)];
}

/**
 * Lists the things that this answer leaves at its provider, the answer itself first. One that says that
 * it is not stored leaves no items there.
 */
export function pinsOfAnswer({ id, output, store }: Members): string[] {
  const items = (Array.isArray(output) ? output : []).slice(0, MAX_PINS).filter(isJsonObject);
  const pins = items.flatMap((item) => [
    ...(store === false ? [] : named(item['id'], itemPin)),
    ...encryptedPins(item),
  ]);
  return [...named(id, responsePin), ...pins].slice(0, MAX_PINS);
}

/** Encrypted reasoning of another protocol's provider is not bound to an account. */
function encryptedPins({ encrypted_content: content }: Members): string[] {
  if (!isName(content) || fromSignatureText(content, 'responses').origin !== 'responses') return [];
  return [`encrypted:${createHash('sha256').update(content).digest('base64url')}`];
}

/**
 * True for an item that the provider looks up by its id: a reference, which need not state its type,
 * and reasoning that the request does not carry itself.
 */
function isLookedUp(item: Members): boolean {
  const { type, role, content, encrypted_content: encrypted } = item;
  if (type === undefined || type === null) return role === undefined;
  if (type === 'item_reference') return true;
  const isCarried = isName(encrypted) || (Array.isArray(content) && content.length > 0);
  return type === 'reasoning' && !isCarried;
}

function named(name: unknown, toPin: (name: string) => string): string[] {
  return isName(name) ? [toPin(name)] : [];
}

function itemPin(id: string): string {
  return `item:${id}`;
}

export function responsePin(id: string): string {
  return `response:${id}`;
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
