import type { Key } from '../../store/store.ts';
import { USAGE } from '../ledger/ledger-keys.ts';
import type { RequestOrigin } from '../origin.ts';
import type { EndRow, StartRow } from '../requests/request-row.ts';
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
}

/** `vendor`: the provider that answered. */
/** Provider that answered; undefined where none did. */
export const vendorOf = ([, , , , answeredBy]: EndRow): string | undefined => answeredBy?.[1];

export function factsOf(start: StartRow, vendor: string | undefined): CallFacts {
  const [at, organization, key, , , model, , , origin] = start;
  const { day } = windowsOf(at);
  const known = origin ?? undefined;
  const facets = facetsOf(known, vendor);
  return { organization, day, key, model: model.slice(0, MAX_MODEL), origin: known, facets };
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
