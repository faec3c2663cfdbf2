import { createHash } from 'node:crypto';
import type { ActualState } from './actual.ts';
import { comparableField, known } from './changes.ts';
import type { DesiredObject } from '../objects/desired.ts';
import { kindOf } from '../objects/kinds.ts';
import { withoutSecrets } from '../../resources/fields/secret-path.ts';
import { canonicalJson } from '../objects/record.ts';

const DIGEST_LENGTH = 6;
const MAX_LABEL_LENGTH = 512;

/**
 * Short digest per field of the last apply: enough to show, of a field that differs, whether the
 * file or the server changed. Undefined when it does not fit into a label; the digest of the whole
 * object decides then. Fields that the server completes have no digest of their own.
 */
export function toAppliedFields(object: DesiredObject, actual: ActualState): string | undefined {
  const readable = withoutSecrets(object.body, kindOf(object.kind).secrets);
  const text = Object.entries(readable)
    .filter(([field]) => hasDigest(object, field))
    .map(
      ([field, declared]) =>
        `${field}=${fieldDigest(object, field, known(declared, actual, object))}`,
    )
    .join(' ');
  return text.length > MAX_LABEL_LENGTH ? undefined : text;
}

/** The digests of {@link toAppliedFields} by field. */
export function readAppliedFields(label: string | undefined): ReadonlyMap<string, string> {
  const pairs = (label ?? '').split(' ').map((pair) => pair.split('=') as [string, string]);
  return new Map(pairs.filter(([, digest]) => digest !== undefined));
}

/** Names a value of a field, whichever way it is spelled. */
export function fieldDigest(object: DesiredObject, field: string, value: unknown): string {
  const text = canonicalJson(comparableField(object, field, { value, view: value }));
  return createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_LENGTH);
}

function hasDigest({ kind }: DesiredObject, field: string): boolean {
  const { definition, isOwned } = kindOf(kind);
  if (definition.comparable?.[field] !== undefined) return false;
  return !(isOwned && field === 'organization');
}
