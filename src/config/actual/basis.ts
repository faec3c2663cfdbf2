import { createHash } from 'node:crypto';
import type { View } from './actual.ts';
import { labelsOf } from './ownership.ts';
import { canonicalJson } from '../objects/record.ts';

const DIGEST_LENGTH = 6;
/** Members that every write changes. */
const MOVING: ReadonlySet<string> = new Set(['version', 'updated_at']);

/** A short digest of each member of an object. */
export function basisOf(view: View): Record<string, string> {
  // Labels that applies keep for themselves are no change of the object.
  const labels = Object.entries(labelsOf(view)).filter(([name]) => !name.startsWith('gateway/'));
  const shown = { ...view, labels: Object.fromEntries(labels) };
  const members = Object.entries(shown).filter(([name]) => !MOVING.has(name));
  return Object.fromEntries(members.map(([name, value]) => [name, digestOf(value)]));
}

/** Names of the members whose digests differ. */
export function changedSince(basis: Readonly<Record<string, string>>, view: View): string[] {
  const now = basisOf(view);
  return Object.keys({ ...basis, ...now }).filter((name) => basis[name] !== now[name]);
}

function digestOf(value: unknown): string {
  const text = canonicalJson(value ?? null);
  return createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_LENGTH);
}
