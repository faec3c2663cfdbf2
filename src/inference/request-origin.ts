import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject } from '../core/json/value.ts';
import type { JsonDocument } from '../core/json/json-document.ts';
import type { RequestOrigin } from '../usage/origin.ts';
import type { Principal } from '../usage/principal.ts';

/** Headers by which clients name the conversation of a request; the first that is given counts. */
const CONVERSATION_HEADERS = [
  'x-gateway-conversation',
  'x-claude-code-session-id',
  'session-id',
  'thread-id',
  'x-session-id',
  'x-session-affinity',
] as const;

/** Header of the tags of a request. */
const TAGS_HEADER = 'x-gateway-tags';
/** Tags that are looked at, and characters of a value that count. */
const MAX_TAGS = 64;
const MAX_VALUE = 128;
/** Longest id of an end user that is kept as it is. */
const MAX_ID = 256;
/** Ids that are kept as they are; of any other one a digest is. */
const PLAIN_ID = /^[\x21-\x7e]{1,256}$/;
/** Bytes of a member that is read for an id; a longer one has none. */
const MAX_MEMBER = 4_096;
/** `metadata.user_id` of earlier versions of Claude Code; later ones write JSON. */
const CLAUDE_CODE_USER = /^user_[\w-]*_account_[\w-]*_session_([\w-]{8,128})$/;

/** Parts of a request that show where it comes from. */
export interface OriginSource {
  readonly headers: Readonly<Record<string, string | string[] | undefined>> | IncomingHttpHeaders;
  readonly principal?: Pick<Principal, 'labels'> | undefined;
  /** Circumstances that the gateway knows by itself; they win. */
  readonly origin?: RequestOrigin | undefined;
}

/** Circumstances that the operator lets count, in addition to those that always do. */
export interface OriginRules {
  /** Labels of keys, and tags of requests, by name. */
  readonly labels: readonly string[];
  readonly tags: readonly string[];
  /** Id of an end user as it is kept; undefined: not at all. */
  endUser(id: string): string | undefined;
}

/** No labels and no tags, and end users as they come. */
export const NO_RULES: OriginRules = { labels: [], tags: [], endUser: (id) => id };

/** Circumstances of a request; undefined where nothing is known of them. */
export function readOrigin(
  { headers, principal, origin }: OriginSource,
  json?: JsonDocument,
  rules: OriginRules = NO_RULES,
): RequestOrigin | undefined {
  const userId = json && userIdIn(json);
  const session = sessionIn(userId);
  const conversation = origin?.conversation ?? conversationIn(headers) ?? session;
  const user = (json && textIn(json, 'user')) ?? (session === undefined ? userId : undefined);
  const endUser = origin?.endUser ?? (user === undefined ? undefined : rules.endUser(toText(user)));
  const labels = rules.labels.length > 0 ? pick(rules.labels, principal?.labels) : undefined;
  const tags = origin?.tags ?? (rules.tags.length > 0 ? tagsIn(headers, rules.tags) : undefined);
  const isKnown = conversation ?? endUser ?? labels ?? tags;
  if (isKnown === undefined) return origin;
  return {
    ...origin,
    ...(conversation !== undefined && { conversation }),
    ...(endUser !== undefined && { endUser }),
    ...(labels && { labels }),
    ...(tags && { tags }),
  };
}

/** Key under which the client asks for its prompts to be cached; it steers routing and nothing else. */
export function promptCacheKey(json: JsonDocument): string | undefined {
  return textIn(json, 'prompt_cache_key');
}

function conversationIn(headers: OriginSource['headers']): string | undefined {
  for (const name of CONVERSATION_HEADERS) {
    const id = headers[name]?.toString().trim();
    if (id) return toId(id);
  }
  return undefined;
}

/** Tags of `name=value, name`; a name without a value has `true`. */
function tagsIn(
  headers: OriginSource['headers'],
  allowed: readonly string[],
): Record<string, string> | undefined {
  const text = headers[TAGS_HEADER]?.toString();
  if (text === undefined) return undefined;
  const given: Record<string, string> = {};
  for (const part of text.split(',', MAX_TAGS)) {
    const [name = '', ...value] = part.split('=');
    given[name.trim()] = value.length === 0 ? 'true' : value.join('=').trim();
  }
  return pick(allowed, given);
}

/** The members of these names, in this order; undefined where there is none. */
function pick(
  names: readonly string[],
  given: Readonly<Record<string, string>> | undefined,
): Record<string, string> | undefined {
  if (!given) return undefined;
  const picked: Record<string, string> = {};
  let isEmpty = true;
  for (const name of names) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (!value) continue;
    picked[name] = value.length > MAX_VALUE ? value.slice(0, MAX_VALUE) : value;
    isEmpty = false;
  }
  return isEmpty ? undefined : picked;
}

/** Keeps texts apart that are too long for a key of the store, or no text at all. */
function toText(id: string): string {
  const isPlain = id.length <= MAX_ID && !/\p{Surrogate}/u.test(id);
  return isPlain ? id : digestOf(id);
}

/** Keeps ids apart that are too long, or not of the characters of an id. */
function toId(id: string): string {
  return PLAIN_ID.test(id) ? id : digestOf(id);
}

const digestOf = (text: string): string =>
  `sha256:${createHash('sha256').update(text).digest('base64url')}`;

/** The session that Claude Code writes into the id of its user. */
function sessionIn(userId: string | undefined): string | undefined {
  if (userId === undefined) return undefined;
  if (!userId.startsWith('{')) return CLAUDE_CODE_USER.exec(userId)?.[1];
  try {
    const parts: unknown = JSON.parse(userId);
    const session = isJsonObject(parts) ? parts['session_id'] : undefined;
    return typeof session === 'string' && session !== '' ? toId(session) : undefined;
  } catch {
    return undefined;
  }
}

function userIdIn(json: JsonDocument): string | undefined {
  if (json.kindOf('metadata') !== 'object' || !isShort(json, 'metadata')) return undefined;
  const metadata = json.get('metadata');
  const id = isJsonObject(metadata) ? metadata['user_id'] : undefined;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

function textIn(json: JsonDocument, key: string): string | undefined {
  if (json.kindOf(key) !== 'string' || !isShort(json, key)) return undefined;
  return (json.get(key) as string) || undefined;
}

function isShort(json: JsonDocument, key: string): boolean {
  const member = json.find(key);
  return member !== undefined && member.valueEnd - member.valueStart <= MAX_MEMBER;
}
