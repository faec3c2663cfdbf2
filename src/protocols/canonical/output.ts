import type { CanonicalRequest } from './canonical.ts';
import type { Feature } from '../features.ts';

/** Declares what is said of an output's schema beside it, for a protocol that has the schema alone. */
export function loseSchemaNotes(output: CanonicalRequest['output'], losses: Set<Feature>): void {
  if (output?.type !== 'schema') return;
  if (output.name !== undefined) losses.add('schema_name');
  if (output.description !== undefined) losses.add('schema_description');
}
