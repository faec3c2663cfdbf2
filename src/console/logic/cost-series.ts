/** Sums of one day and one value of a dimension, as reports give them. */
export interface UsageSum {
  readonly day: string;
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
  readonly series: readonly { readonly name: string; readonly costs: readonly number[] }[];
  readonly unpriced: readonly number[];
}

export interface CostRow extends Omit<UsageSum, 'day'> {
  /** Share of all that is known, 0 to 1. */
  readonly share: number;
}

/** Name of everything that is in no series of its own. */
export const OTHERS = 'others';
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
  const names = own.map(({ name }) => name);
  const hasOthers = totals.filter(({ cost }) => cost > 0).length > most;
  const placeOf = new Map(days.map((day, index) => [day, index]));
  const lines = new Map(
    [...names, ...(hasOthers ? [OTHERS] : [])].map((name) => [name, days.map(() => 0)]),
  );
  const unpriced = days.map(() => 0);
  for (const sum of sums) {
    const at = placeOf.get(sum.day);
    if (at === undefined) continue;
    unpriced[at] = (unpriced[at] ?? 0) + sum.unpriced;
    const costs = lines.get(sum.name) ?? lines.get(OTHERS);
    if (costs) costs[at] = (costs[at] ?? 0) + sum.cost;
  }
  return { days, series: Array.from(lines, ([name, costs]) => ({ name, costs })), unpriced };
}

/** Sums of each value of the dimension over all days, the dearest first. */
export function toRows(sums: readonly UsageSum[]): CostRow[] {
  const rows = new Map<string, Omit<CostRow, 'share'>>();
  for (const sum of sums) {
    const row = rows.get(sum.name);
    rows.set(sum.name, {
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

export interface Forecast {
  readonly spent: number;
  /** Dollars at the end of the month if its days go on as the last seven did. */
  readonly total: number;
  /** Dollars of a day as the last seven were. */
  readonly perDay: number;
}

/** The month so far and its end, by UTC days. The day that has not ended counts as the part that it is. */
export function forecast(byDay: ReadonlyMap<string, number>, now: number): Forecast {
  const today = new Date(now).toISOString().slice(0, 10);
  const month = today.slice(0, 7);
  const spent = [...byDay].reduce(
    (sum, [day, cost]) => (day.startsWith(month) ? sum + cost : sum),
    0,
  );
  const elapsed = (now % DAY) / DAY;
  const recent = daysBetween(new Date(now - 7 * DAY).toISOString().slice(0, 10), today);
  const known = [...byDay.keys()].sort()[0] ?? today;
  const counted = recent.filter((day) => day >= known);
  const cost = counted.reduce((sum, day) => sum + (byDay.get(day) ?? 0), 0);
  const perDay = cost / Math.max(counted.length - 1 + elapsed, 1 / 24);
  const end = Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 1);
  return { spent, perDay, total: spent + (perDay * (end - now)) / DAY };
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
