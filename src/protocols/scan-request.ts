import type { Buffer } from 'node:buffer';
import { scanJson } from '../core/json/json-document.ts';
import type { JsonDocument } from '../core/json/json-document.ts';
import { Marks } from '../core/json/marks.ts';
import { CUSTOM_MARK, DECLARING_MARKS } from './canonical/call-forms.ts';
import { TOKEN_MARK } from './canonical/reasoning-token.ts';

/** Beginning of a reference to an asset. */
export const ASSET_MARK = 'asset:';
/** Name of the member in which Responses carry reasoning. */
export const ENCRYPTED_MARK = 'encrypted_content';
/** Beginning of the ids of reasoning items. */
export const REASONING_ID_MARK = 'rs_';
/** Names of members with an address from which a provider fetches content. */
export const URL_MARKS = ['image_url', 'url', 'uri'] as const;
/** Type of an item that the provider keeps. */
export const ITEM_MARK = 'item_reference';
/** Names of members that refer to a file. */
export const FILE_MARKS = ['file_id', 'file_url', 'file_uri', 'fileUri'] as const;

/** Marks that a request's scan looks for, so that no later search of all of it is needed. */
export const REQUEST_MARKS = new Marks([
  ASSET_MARK,
  CUSTOM_MARK,
  ...DECLARING_MARKS,
  ENCRYPTED_MARK,
  REASONING_ID_MARK,
  TOKEN_MARK,
  ...URL_MARKS,
  ITEM_MARK,
  ...FILE_MARKS,
]);

/** Bytes of a request, or what a scan with {@link REQUEST_MARKS} made of them. */
export type RequestSource = Buffer | JsonDocument;

/** A request's body. `guarded` names the members that the gateway acts on. Throws as {@link scanJson}. */
export function scanRequest(source: RequestSource, guarded: readonly string[] = []): JsonDocument {
  return scanJson(source, guarded, { marks: REQUEST_MARKS });
}
