import type { Key } from '../../store/store.ts';
import type { RequestOrigin } from '../origin.ts';

/** Dimensions with so many values that each has sums of its own, apart from all other dimensions. */
export const PARTS = ['conversation', 'end_user'] as const;
export type Part = (typeof PARTS)[number];

/** Sums per day by value of a dimension: `usage-by, dimension, organization, value, day, writer`. */
export const USAGE_BY: Key = ['usage-by'];

/** Values of a dimension that a day has sums of: `usage-on, dimension, day, organization, value`. */
export const USAGE_ON: Key = ['usage-on'];

/** Number of changes that moved sums from one row to another; who reads them reads again. */
export const FOLDED: Key = ['usage-by-folded'];

/** Value for the sums of values that are no longer kept apart. */
export const FOLDED_VALUE = '';

export interface PartValue {
  readonly part: Part;
  readonly value: string;
}

export interface PartPlace extends PartValue {
  readonly organization: string;
  readonly day: string;
  readonly writer: string;
}

export const partKey = ({ part, organization, value, day, writer }: PartPlace): Key => [
  ...USAGE_BY,
  part,
  organization,
  value,
  day,
  writer,
];

export const onKey = ({ part, organization, value, day }: Omit<PartPlace, 'writer'>): Key => [
  ...USAGE_ON,
  part,
  day,
  organization,
  value,
];

/** Key of the sums that a call adds to by one of its values. */
export interface PartSum extends Omit<PartPlace, 'writer'> {
  /** Text that only calls have in common that add to the same sums. */
  readonly row: string;
}

const NO_PARTS: readonly PartSum[] = [];

/** Sums that a call adds to by its values, at most one of each dimension. */
export function partSumsOf(
  origin: RequestOrigin | null | undefined,
  { organization, day }: { organization: string; day: string },
): readonly PartSum[] {
  const { conversation, endUser } = origin ?? {};
  const toSum = (part: Part, value: string): PartSum => {
    const row = `${organization}\0${day}\0${part}\0${value}`;
    return { part, value, organization, day, row };
  };
  if (conversation === undefined)
    return endUser === undefined ? NO_PARTS : [toSum('end_user', endUser)];
  const first = toSum('conversation', conversation);
  return endUser === undefined ? [first] : [first, toSum('end_user', endUser)];
}

/** Reads the segments of {@link partKey}. */
export function toPartPlace(key: Key): Omit<PartPlace, 'part'> & { readonly part: string } {
  const [, part = '', organization = '', value = '', day = '', writer = ''] = key.map(String);
  return { part, organization, value, day, writer };
}
