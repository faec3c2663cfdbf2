import { listHeads } from './list-heads.ts';
import type { Key, Store } from '../../store/store.ts';
import { USAGE } from '../ledger/ledger-keys.ts';
import { readRows } from '../ledger/read-rows.ts';
import type { Days } from './day-digests.ts';
import { FACETS, facetsKey } from './facets.ts';
import type { Facets } from './facets.ts';
import { toTotalsPlace } from './totals.ts';

/** Sums of a day as they are counted. */
export interface Total {
  readonly organization: string;
  readonly day: string;
  readonly key: string;
  readonly model: string;
  /** Undefined for calls without any. */
  readonly facets: Facets | undefined;
  readonly sums: readonly number[];
}

export interface TotalsQuery extends Days {
  /** Default: all. */
  readonly organization?: string | undefined;
  /** False: facets are not needed, and left out. */
  readonly withFacets: boolean;
}

/** Facets that are looked up one by one; more are read all at once. */
const MAX_LOOKUPS = 200;

/** Organizations that have used anything. */
export async function organizationsOf(
  store: Store,
  organization: string | undefined,
): Promise<string[]> {
  if (organization !== undefined) return [organization];
  const found: string[] = [];
  for await (const id of listHeads(store, USAGE)) found.push(id);
  return found;
}

/** Only rows of the days are read. */
export async function readTotals(store: Store, query: TotalsQuery): Promise<Total[]> {
  const { first, last, withFacets } = query;
  const rows: { key: Key; sums: number[] }[] = [];
  for (const organization of await organizationsOf(store, query.organization)) {
    const prefix = [...USAGE, organization];
    const after = [...prefix, first];
    for await (const { key, value } of readRows<number[]>(store, prefix, { after })) {
      if (String(key[2]) > last) break;
      rows.push({ key, sums: value });
    }
  }
  const places = rows.map(({ key, sums }) => ({ ...toTotalsPlace(key), sums }));
  const digests = new Set(places.flatMap(({ digest }) => digest ?? []));
  const facets = withFacets ? await readFacets(store, digests) : new Map<string, Facets>();
  return places.map(({ digest, ...place }) => {
    return { ...place, facets: digest === undefined ? undefined : facets.get(digest) };
  });
}

async function readFacets(
  store: Store,
  digests: ReadonlySet<string>,
): Promise<ReadonlyMap<string, Facets>> {
  const facets = new Map<string, Facets>();
  if (digests.size > MAX_LOOKUPS) {
    for await (const { key, value } of readRows<Facets>(store, FACETS))
      facets.set(String(key[1]), value);
    return facets;
  }
  const lookUp = async (digest: string): Promise<void> => {
    const entry = await store.get<Facets>(facetsKey(digest));
    if (entry) facets.set(digest, entry.value);
  };
  await Promise.all(Array.from(digests, lookUp));
  return facets;
}

/** Value of a dimension; undefined for none. */
export function valueOf(
  { key, model, facets }: Pick<Total, 'key' | 'model' | 'facets'>,
  dimension: string,
): string | undefined {
  if (dimension === 'key') return key;
  if (dimension === 'model') return model;
  if (!facets) return undefined;
  const at = dimension.indexOf(':');
  const [kind, name] = [dimension.slice(0, Math.max(at, 0)), dimension.slice(at + 1)];
  if (kind === 'label') return facets.labels?.[name];
  if (kind === 'tag') return facets.tags?.[name];
  return facets[dimension as 'vendor' | 'agent' | 'service' | 'schedule'];
}

/** Dimensions that a row has a value of. */
export function dimensionsIn({ facets }: Pick<Total, 'facets'>): string[] {
  if (!facets) return ['key', 'model'];
  const { labels = {}, tags = {}, ...others } = facets;
  return [
    'key',
    'model',
    ...Object.entries(others).flatMap(([name, value]) => (value === undefined ? [] : [name])),
    ...Object.keys(labels).map((name) => `label:${name}`),
    ...Object.keys(tags).map((name) => `tag:${name}`),
  ];
}
