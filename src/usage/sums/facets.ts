import { createHash } from 'node:crypto';
import type { Key } from '../../store/store.ts';
import type { RequestOrigin } from '../origin.ts';

/** Dimensions of a call that have few values, in addition to its key and its model. Absent members: none. */
export interface Facets extends Pick<
  RequestOrigin,
  'agent' | 'service' | 'schedule' | 'labels' | 'tags'
> {
  /** Name of the provider that answered. */
  readonly vendor?: string | undefined;
}

/** Facets by their digest, which the keys of sums hold: `usage-facets, digest`. */
export const FACETS: Key = ['usage-facets'];

export const facetsKey = (digest: string): Key => [...FACETS, digest];

/** True where an origin has more than sums of its own (see `PARTS`). */
export function hasFacets({ agent, service, schedule, labels, tags }: RequestOrigin): boolean {
  return (agent ?? service ?? schedule ?? labels ?? tags) !== undefined;
}

/** Undefined for a call without any. */
export function facetsOf(
  origin: RequestOrigin | undefined,
  vendor: string | undefined,
): Facets | undefined {
  if (!origin || !hasFacets(origin)) return vendor === undefined ? undefined : { vendor };
  const { agent, service, schedule, labels, tags } = origin;
  return { vendor, agent, service, schedule, labels, tags };
}

/** The same for the same JSON text, in every process. */
export function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22);
}
