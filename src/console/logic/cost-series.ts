/** Sums of one day and one value of a dimension, as reports give them. */
export interface UsageSum {
  readonly day: string;
  /** Id of the value; empty for requests without one. */
  readonly value: string;
  readonly name: string;
  readonly requests: number;
  readonly errors: number;
  readonly unpriced: number;
  /** Dollars; 0 where nothing is known. */
  readonly cost: number;
  readonly input: number;
  readonly output: number;
}

export interface CostSeries {
  readonly days: readonly string[];
  /** The dearest values first, the others together at the end. */
  readonly series: readonly {
    readonly value: string;
    readonly name: string;
    readonly costs: readonly number[];
  }[];
  readonly unpriced: readonly number[];
}

export interface CostRow extends Omit<UsageSum, 'day'> {
  /** Share of all that is known, 0 to 1. */
  readonly share: number;
}

/** Value and name of everything that is in no series of its own; no id holds a space. */
const OTHERS = { value: 'the others', name: 'others' };
const DAY = 86_400_000;

/** Days of a range, both ends included. */
export function daysBetween(first: string, last: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(first); at <= Date.parse(last); at += DAY)
    days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}

/** Costs by day, stacked by the values of a dimension. */
export function toSeries(sums: readonly UsageSum[], days: readonly string[], most = 6): CostSeries {
  const totals = toRows(sums);
  const own = totals.filter(({ cost }) => cost > 0).slice(0, most);
  const hasOthers = totals.filter(({ cost }) => cost > 0).length > most;
  const placeOf = new Map(days.map((day, index) => [day, index]));
  const lines = new Map(
    [...own, ...(hasOthers ? [OTHERS] : [])].map(({ value, name }) => [
      value,
      { value, name, costs: days.map(() => 0) },
    ]),
  );
  const unpriced = days.map(() => 0);
  for (const sum of sums) {
    const at = placeOf.get(sum.day);
    if (at === undefined) continue;
    unpriced[at] = (unpriced[at] ?? 0) + sum.unpriced;
    const costs = (lines.get(sum.value) ?? lines.get(OTHERS.value))?.costs;
    if (costs) costs[at] = (costs[at] ?? 0) + sum.cost;
  }
  return { days, series: [...lines.values()], unpriced };
}

/** Sums of each value of the dimension over all days, the dearest first. */
export function toRows(sums: readonly UsageSum[]): CostRow[] {
  const rows = new Map<string, Omit<CostRow, 'share'>>();
  for (const sum of sums) {
    const row = rows.get(sum.value);
    rows.set(sum.value, {
      value: sum.value,
      name: sum.name,
      requests: sum.requests + (row?.requests ?? 0),
      errors: sum.errors + (row?.errors ?? 0),
      unpriced: sum.unpriced + (row?.unpriced ?? 0),
      cost: sum.cost + (row?.cost ?? 0),
      input: sum.input + (row?.input ?? 0),
      output: sum.output + (row?.output ?? 0),
    });
  }
  const all = [...rows.values()];
  const total = all.reduce((sum, { cost }) => sum + cost, 0);
  return all
    .map((row) => ({ ...row, share: total > 0 ? row.cost / total : 0 }))
    .sort((a, b) => b.cost - a.cost || b.requests - a.requests || (a.name < b.name ? -1 : 1));
}

/** Running month as in reports; null is an unknown amount. */
export interface MonthForecast {
  readonly month: string;
  readonly spent: string | null;
  readonly cost: string | null;
  readonly unpriced?: number;
}

/** Dollars that the forecast expects of each day that is left of its month. */
export function expectedOfDay({ month, spent, cost }: MonthForecast, now: number): number {
  const end = Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 1);
  const left = (end - now) / DAY;
  if (spent === null || cost === null || left <= 0) return 0;
  return Math.max(0, (Number(cost) - Number(spent)) / left);
}

/** Rows as CSV, with a head; a cell that a spreadsheet would take for a formula is quoted. */
export function toCsv(
  head: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  return [head, ...rows].map((row) => row.map(toCell).join(',')).join('\r\n') + '\r\n';
}

function toCell(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
