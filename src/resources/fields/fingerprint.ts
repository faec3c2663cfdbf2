import { createHash } from 'node:crypto';
import { canonicalJson } from '../../core/json/canonical-json.ts';

/** A digest of a JSON value that does not depend on the order of members. */
export function fingerprint(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url').slice(0, 22);
}
