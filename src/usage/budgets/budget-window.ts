/** Period after which a budget starts again. */
export type BudgetPeriod = 'day' | 'week' | 'month' | 'lifetime';

/** Time that one amount is for. */
export interface BudgetWindow {
  /** Unique among the windows of a budget. */
  readonly name: string;
  /** Milliseconds since epoch; without a period from -Infinity to Infinity. */
  readonly from: number;
  /** First instant after it. */
  readonly to: number;
}

/** A date in the calendar of a zone; months count from 1. */
interface LocalDate {
  readonly year: number;
  readonly month: number;
  readonly day: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** No clock is further from UTC. */
const MOST_OFFSET_MS = 16 * HOUR_MS;
const LIFETIME: BudgetWindow = { name: 'lifetime', from: -Infinity, to: Infinity };
/** Sunday counts as the last day of a week. */
const DAYS_SINCE_MONDAY = [6, 0, 1, 2, 3, 4, 5];

/**
 * Finds the window of an instant by the calendar of a zone; weeks begin on Monday. The last one is
 * remembered, so that it costs two comparisons per call.
 */
export function createBudgetWindows(
  period: BudgetPeriod,
  timezone: string,
): (at: number) => BudgetWindow {
  if (period === 'lifetime') return () => LIFETIME;
  const dateAt = createDateAt(timezone);
  const toWindow = (first: LocalDate): BudgetWindow => ({
    name: nameOf(period, first),
    from: startOf(first, dateAt),
    to: startOf(nextOf(period, first), dateAt),
  });
  let window: BudgetWindow | undefined;
  return (at) => {
    if (window && at >= window.from && at < window.to) return window;
    const first = firstOf(period, dateAt(at));
    const found = toWindow(first);
    // The hour after midnight is of the next day already where clocks go back over it.
    return (window = at < found.to ? found : toWindow(nextOf(period, first)));
  };
}

function nameOf(period: BudgetPeriod, { year, month, day }: LocalDate): string {
  const [, months, days] = [year, month, day].map((part) => String(part).padStart(2, '0'));
  if (period === 'month') return `${year}-${months}`;
  return `${period === 'week' ? 'week-' : ''}${year}-${months}-${days}`;
}

function firstOf(period: BudgetPeriod, date: LocalDate): LocalDate {
  if (period === 'month') return { ...date, day: 1 };
  if (period === 'day') return date;
  const weekday = new Date(Date.UTC(date.year, date.month - 1, date.day)).getUTCDay();
  return shifted(date, -(DAYS_SINCE_MONDAY[weekday] ?? 0));
}

function nextOf(period: BudgetPeriod, date: LocalDate): LocalDate {
  if (period === 'month') return firstOf('month', shifted({ ...date, day: 1 }, 31));
  return shifted(date, period === 'week' ? 7 : 1);
}

function shifted({ year, month, day }: LocalDate, days: number): LocalDate {
  const date = new Date(Date.UTC(year, month - 1, day + days));
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
  };
}

/** First instant of a date: midnight, or what the clocks show in its place. */
function startOf(date: LocalDate, dateAt: (at: number) => LocalDate): number {
  const wanted = orderOf(date);
  const guess = Date.UTC(date.year, date.month - 1, date.day);
  let before = guess - MOST_OFFSET_MS;
  let behind = guess + MOST_OFFSET_MS;
  while (behind - before > 1) {
    const middle = Math.floor((before + behind) / 2);
    if (orderOf(dateAt(middle)) < wanted) before = middle;
    else behind = middle;
  }
  return behind;
}

const orderOf = ({ year, month, day }: LocalDate): number =>
  Date.UTC(year, month - 1, day) / DAY_MS;

function createDateAt(timeZone: string): (at: number) => LocalDate {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
  });
  return (at) => {
    const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
    return { year: part('year'), month: part('month'), day: part('day') };
  };
}
