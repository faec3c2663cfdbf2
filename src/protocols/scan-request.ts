import type { Buffer } from 'node:buffer';
import { scanJson } from '../core/json/json-document.ts';
import type { JsonDocument } from '../core/json/json-document.ts';
import { Marks } from '../core/json/marks.ts';
import { CUSTOM_MARK } from './canonical/call-forms.ts';
import { TOKEN_MARK } from './canonical/reasoning-token.ts';

/** Beginning of a reference to an asset. */
export const ASSET_MARK = 'asset:';
/** Name of the member in which Responses carry reasoning. */
export const ENCRYPTED_MARK = 'encrypted_content';

/** Marks that a request's scan looks for, so that nobody has to search the whole request later. */
export const REQUEST_MARKS = new Marks([ASSET_MARK, CUSTOM_MARK, ENCRYPTED_MARK, TOKEN_MARK]);

/** Bytes of a request, or what a scan with {@link REQUEST_MARKS} made of them. */
export type RequestSource = Buffer | JsonDocument;

/** A request's body. `guarded` names the members that the gateway acts on. Throws as {@link scanJson}. */
export function scanRequest(source: RequestSource, guarded: readonly string[] = []): JsonDocument {
  return scanJson(source, guarded, { marks: REQUEST_MARKS });
}
