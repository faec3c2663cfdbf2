import type { Key } from '../../store/store.ts';
import { USAGE } from '../ledger/ledger-keys.ts';
import type { EndRow } from '../requests/request-row.ts';
import { windowsOf } from '../spend/spend.ts';
import { facetsOf, hasFacets } from './facets.ts';
import type { Facets } from './facets.ts';

/** The longest name of a model that a row of sums is kept by. */
const MAX_MODEL = 200;

/** Members of a record by which its amounts are summed, but for those that have sums of their own. */
export interface CallFacts {
  readonly organization: string;
  /** UTC day on which it began. */
  readonly day: string;
  readonly key: string;
  readonly model: string;
  readonly facets: Facets | undefined;
  /** JSON of the facets; empty for a call without any. */
  readonly facetsText: string;
  /** Text that only calls have in common that are summed together. */
  readonly row: string;
}

/** `day`: that on which the call began. */
export function factsOf(record: EndRow, day = windowsOf(record[0][0]).day): CallFacts {
  const [[, organization, key, , , asked, , , told], , , , answeredBy] = record;
  const facets = facetsOf(told ?? undefined, answeredBy?.[1]);
  const facetsText = facets ? JSON.stringify(facets) : '';
  const model = asked.length > MAX_MODEL ? asked.slice(0, MAX_MODEL) : asked;
  const row = `${organization}\0${day}\0${key}\0${model}\0${facetsText}`;
  return { organization, day, key, model, facets, facetsText, row };
}

/** Facts that are remembered, by key, model and vendor. */
const MAX_PLAIN = 1_000;

/**
 * Makes the facts of calls, the same object for all of one day, key, model and vendor without any other origin:
 * nearly all calls of a busy gateway.
 */
export function createFactsOf(): (record: EndRow, day: string) => CallFacts {
  const plain = new Map<string, CallFacts>();
  return (record, day) => {
    const [[, organization, key, , , model, , , origin], , , , answeredBy] = record;
    if (origin && hasFacets(origin)) return factsOf(record, day);
    const name = `${key}\0${model}\0${answeredBy?.[1] ?? ''}`;
    const known = plain.get(name);
    if (known?.day === day && known.organization === organization) return known;
    if (plain.size >= MAX_PLAIN) plain.clear();
    const facts = factsOf(record, day);
    plain.set(name, facts);
    return facts;
  };
}

/** Key of the sums of a day; without a digest it has the form of older versions. */
export function totalsKey(
  { organization, day, key, model }: CallFacts,
  digest: string | undefined,
  writer: string,
): Key {
  const head = [...USAGE, organization, day, key, model];
  return digest === undefined ? [...head, writer] : [...head, digest, writer];
}

/** Reads the segments of {@link totalsKey}. */
export function toTotalsPlace(segments: Key): {
  readonly organization: string;
  readonly day: string;
  readonly key: string;
  readonly model: string;
  readonly digest: string | undefined;
} {
  const [, organization = '', day = '', key = '', model = '', last = '', writer] =
    segments.map(String);
  return { organization, day, key, model, digest: writer === undefined ? undefined : last };
}
