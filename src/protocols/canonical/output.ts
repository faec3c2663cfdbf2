import type { CanonicalRequest } from './canonical.ts';
import type { Feature } from '../features.ts';

/** Adds the name and description of an output's schema to `losses`, for a protocol without them. */
export function loseSchemaNotes(output: CanonicalRequest['output'], losses: Set<Feature>): void {
  if (output?.type !== 'schema') return;
  if (output.name !== undefined) losses.add('schema_name');
  if (output.description !== undefined) losses.add('schema_description');
}
