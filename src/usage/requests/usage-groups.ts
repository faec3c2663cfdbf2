import { OTHER } from '../sums/facet-names.ts';

/** Index of the cost in the sums. */
const COST = 3;

/** Values of dimensions, null for none. */
export type Members = Record<string, string | null>;

export interface GroupSums {
  readonly name: string;
  readonly members: Members;
  readonly sums: number[];
}

/** Sums by the values of some dimensions. */
export class UsageGroups {
  readonly #groupBy: readonly string[];
  readonly #groups = new Map<string, GroupSums>();

  constructor(groupBy: readonly string[]) {
    this.#groupBy = groupBy;
  }

  /** `from`: index of the first amount. The row may be used again. */
  add(row: Readonly<Members>, amounts: readonly (number | string | null)[], from = 0): void {
    let name = '';
    // Groups without a value come last.
    for (const group of this.#groupBy) name += `${row[group] ?? '\uffff'}\0`;
    const known = this.#groups.get(name);
    if (!known) {
      const members: Members = {};
      for (const group of this.#groupBy) members[group] = row[group] ?? null;
      this.#groups.set(name, { name, members, sums: amounts.slice(from) as number[] });
      return;
    }
    const { sums } = known;
    for (let at = from; at < amounts.length; at++)
      sums[at - from] = (sums[at - from] ?? 0) + (amounts[at] as number);
  }

  /** Groups in no order; none where nothing is left. */
  list(): GroupSums[] {
    return [...this.#groups.values()].filter(({ sums }) => sums.some((amount) => amount !== 0));
  }
}

const byName = (one: GroupSums, other: GroupSums): number => (one.name < other.name ? -1 : 1);
const costOf = ({ sums }: GroupSums): number => sums[COST] ?? 0;

/** The groups that cost most in the order of their names, and one for the rest, or for the rest of each day. */
export function withOther(
  found: readonly GroupSums[],
  groupBy: readonly string[],
  limit = Infinity,
): GroupSums[] {
  const last = groupBy.at(-1);
  if (found.length <= limit || last === undefined) return found.toSorted(byName);
  const [kept, left] = parted(found, Math.max(0, limit - 1));
  const rest = new UsageGroups(groupBy);
  const row: Members = { [last]: OTHER };
  for (const { members, sums } of left) {
    if (last !== 'day' && members['day'] !== undefined) row['day'] = members['day'];
    rest.add(row, sums);
  }
  return [...kept.toSorted(byName), ...rest.list().toSorted(byName)];
}

/** Those that cost most, of equal ones the first by name, and the others: few are wanted of very many. */
function parted(
  found: readonly GroupSums[],
  count: number,
): readonly [kept: GroupSums[], left: GroupSums[]] {
  const costs = Float64Array.from(found, costOf).sort();
  const least = costs[costs.length - count] ?? Infinity;
  const kept = found.filter((group) => costOf(group) > least);
  const even = found.filter((group) => costOf(group) === least).toSorted(byName);
  const left = found.filter((group) => costOf(group) < least);
  const room = count - kept.length;
  return [
    [...kept, ...even.slice(0, room)],
    [...even.slice(room), ...left],
  ];
}
