import type { Key } from '../../store/store.ts';
import { USAGE } from '../ledger/ledger-keys.ts';
import type { RequestOrigin } from '../origin.ts';
import type { EndRow } from '../requests/request-row.ts';
import { windowsOf } from '../spend/spend.ts';
import { facetsOf } from './facets.ts';
import type { Facets } from './facets.ts';

/** The longest name of a model that a row of sums is kept by. */
const MAX_MODEL = 200;

/** Members of a record by which its amounts are summed. */
export interface CallFacts {
  readonly organization: string;
  /** UTC day on which it began. */
  readonly day: string;
  readonly key: string;
  readonly model: string;
  readonly origin: RequestOrigin | undefined;
  readonly facets: Facets | undefined;
  /** JSON of the facets; empty for a call without any. */
  readonly facetsText: string;
}

/** `day`: that on which the call began. */
export function factsOf(record: EndRow, day = windowsOf(record[0][0]).day): CallFacts {
  const [[, organization, key, , , asked, , , told], , , , answeredBy] = record;
  const origin = told ?? undefined;
  const facets = facetsOf(origin, answeredBy?.[1]);
  const facetsText = facets ? JSON.stringify(facets) : '';
  const model = asked.length > MAX_MODEL ? asked.slice(0, MAX_MODEL) : asked;
  return { organization, day, key, model, origin, facets, facetsText };
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
