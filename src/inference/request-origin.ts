import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { isJsonObject } from '../core/json/value.ts';
import type { JsonDocument } from '../core/json/json-document.ts';
import type { RequestOrigin } from '../usage/origin.ts';

/** Headers by which clients name the conversation of a request; the first that is given counts. */
const CONVERSATION_HEADERS = [
  'x-gateway-conversation',
  'x-claude-code-session-id',
  'session-id',
  'thread-id',
  'x-session-id',
  'x-session-affinity',
] as const;

/** Ids that are kept as they are; of any other one a digest is. */
const PLAIN_ID = /^[\x21-\x7e]{1,256}$/;
/** Bytes of a member that is read for an id; a longer one has none. */
const MAX_MEMBER = 4_096;
/** `metadata.user_id` of earlier versions of Claude Code; later ones write JSON. */
const CLAUDE_CODE_USER = /^user_[\w-]*_account_[\w-]*_session_([\w-]{8,128})$/;

/** Parts of a request that tell where it comes from. */
export interface OriginSource {
  readonly headers: Readonly<Record<string, string | string[] | undefined>> | IncomingHttpHeaders;
  /** Circumstances that the gateway knows by itself; they win. */
  readonly origin?: RequestOrigin | undefined;
}

/** Circumstances of a request; undefined where nothing is known of them. */
export function readOrigin(
  { headers, origin }: OriginSource,
  json?: JsonDocument,
): RequestOrigin | undefined {
  const conversation =
    origin?.conversation ?? conversationIn(headers) ?? (json && sessionIn(userIdIn(json)));
  return conversation === undefined ? origin : { ...origin, conversation };
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

/** Keeps ids apart that are too long, or not of the characters of an id. */
function toId(id: string): string {
  if (PLAIN_ID.test(id)) return id;
  return `sha256:${createHash('sha256').update(id).digest('base64url')}`;
}

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
  return typeof id === 'string' ? id : undefined;
}

function textIn(json: JsonDocument, key: string): string | undefined {
  if (json.kindOf(key) !== 'string' || !isShort(json, key)) return undefined;
  return (json.get(key) as string) || undefined;
}

function isShort(json: JsonDocument, key: string): boolean {
  const member = json.find(key);
  return member !== undefined && member.valueEnd - member.valueStart <= MAX_MEMBER;
}
