import { Cron } from 'croner';
import { toNumericCron } from './numeric-cron.ts';

/** A rule for instants: a wall clock in a zone, and when it says so. */
export interface CronSchedule {
  /** Five fields; see {@link cronFault}. */
  readonly expression: string;
  /** IANA name. */
  readonly timezone: string;
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

const FIELDS: readonly Field[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12 },
  { name: 'day of week', min: 0, max: 7 },
];
/** Longer ones say nothing that a shorter one does not. */
const MAX_LENGTH = 512;
const DAYS_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
/** The platform takes others (`PST`, `IST`) that the database does not have and that mean many zones. */
const SHORT_ZONES = new Set('CET EET EST GMT HST MET MST PRC ROC ROK UCT UTC WET'.split(' '));
const PART = /^(?:(\*)|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/;

/**
 * Describes the fault of an expression; undefined when it has none. The dialect is that of POSIX
 * with steps (`0-59/15`, `9-17/2`): minute, hour, day of month, month, day of week (0-7, both ends
 * Sunday), each a `*` or a list of numbers and ranges. Days that both are restricted meet if either
 * does. No names, no seconds or years, no `@daily`, `L`, `W`, `#` or `?`, for which the fault says what to write
 * where it can be said; and it must fire at all (requirement deployments.schedule.cron-dialect).
 */
export function cronFault(expression: string): string | undefined {
  const fault = faultOf(expression);
  if (fault === undefined) return undefined;
  const numbers = cronInNumbers(expression);
  return numbers === undefined ? fault : `${fault}; write \`${numbers}\` in its place`;
}

/** The same as an expression that has no fault; undefined where it cannot be one. */
export function cronInNumbers(expression: string): string | undefined {
  if (expression.length > MAX_LENGTH) return undefined;
  const numbers = toNumericCron(expression);
  return faultOf(numbers) === undefined ? numbers : undefined;
}

function faultOf(expression: string): string | undefined {
  const read = readFields(expression);
  if (typeof read === 'string') return read;
  const [, , days = [], months = []] = read;
  if (fieldsOf(expression)[4] !== '*') return undefined;
  const fires = months.some((month) => days.some((day) => day <= (DAYS_OF_MONTH[month - 1] ?? 0)));
  return fires ? undefined : 'no month has such a day: it would never fire';
}

/** Names of the IANA database, in any case; no offsets such as `+02:00`. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][\w+/-]*$/.test(name) || /^SystemV\//i.test(name)) return false;
  if (name.length === 3 && !SHORT_ZONES.has(name.toUpperCase())) return false;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/**
 * The first instant strictly later than `after`, both in ms since epoch; undefined when there is none. Times of
 * day that a change of the clock skips fire once, at its end; those that come twice fire only the first time.
 * Only `*` as the hour means every hour that passes, the repeated one too and the skipped one not (requirement
 * scheduler.dst).
 */
export function nextInstant(schedule: CronSchedule, after: number): number | undefined {
  const { cron, next } = ruleOf(schedule);
  const minute = Math.floor(after / MINUTE_MS);
  if (next.has(minute)) return next.get(minute);
  const instant = cron.nextRun(new Date(after))?.getTime();
  if (next.size >= MAX_MINUTES) next.clear();
  next.set(minute, instant);
  return instant;
}

/** The next instants later than `after`, at most `count`. */
export function upcomingInstants(schedule: CronSchedule, after: number, count: number): number[] {
  return ruleOf(schedule)
    .cron.nextRuns(count, new Date(after))
    .map((at) => at.getTime());
}

/** The latest instant later than `after` and not later than `until`; costs the same for any distance. */
export function latestInstant(
  schedule: CronSchedule,
  { after, until }: { after: number; until: number },
): number | undefined {
  // Whole seconds count there, and the end is not included.
  const end = (Math.floor(until / 1_000) + 1) * 1_000;
  const latest = ruleOf(schedule).cron.previousRuns(1, new Date(end))[0]?.getTime();
  return latest !== undefined && latest > after ? latest : undefined;
}

/** A schedule as it was understood once. */
interface Rule {
  readonly cron: Cron;
  /** First instant after a minute, by the minute: all instants are whole ones. */
  readonly next: Map<number, number | undefined>;
}

const MINUTE_MS = 60_000;
const MAX_MINUTES = 8;
const MAX_RULES = 256;

/**
 * Module state, since it only holds results of the schedule's text: many Schedules have the same, and all that
 * are due at once need the same next instant.
 */
const rules = new Map<string, Rule>();

function ruleOf(schedule: CronSchedule): Rule {
  const name = `${schedule.timezone} ${schedule.expression}`;
  const known = rules.get(name);
  if (known) return known;
  const rule: Rule = { cron: toCron(schedule), next: new Map() };
  if (rules.size >= MAX_RULES) rules.clear();
  rules.set(name, rule);
  return rule;
}

/**
 * Makes a Cron with minutes and hours as lists: they are times of day; with a `*` among them they
 * would be intervals.
 */
function toCron({ expression, timezone }: CronSchedule): Cron {
  const read = readFields(expression);
  if (typeof read === 'string') throw new RangeError(`cron expression: ${read}`);
  const [minutes = [], hours = []] = read;
  const [, , ...days] = fieldsOf(expression);
  const isHourly = hours.length === 24;
  const pattern = [minutes.join(), isHourly ? '*' : hours.join(), ...days].join(' ');
  return new Cron(pattern, { timezone, mode: '5-part', fixedTimeRule: 'no-wildcard' });
}

function fieldsOf(expression: string): string[] {
  return expression.trim().split(/\s+/);
}

/** The values of each field, or the fault. */
function readFields(expression: string): readonly number[][] | string {
  if (expression.length > MAX_LENGTH) return `longer than ${MAX_LENGTH} characters`;
  const fields = fieldsOf(expression);
  if (fields.length !== FIELDS.length)
    return 'expected five fields: minute, hour, day of month, month, day of week';
  const values: number[][] = [];
  for (const [index, field] of FIELDS.entries()) {
    const found = readField(fields[index] ?? '', field);
    if (typeof found === 'string') return `${field.name}: ${found}`;
    values.push(found);
  }
  return values;
}

function readField(text: string, { min, max }: Field): number[] | string {
  const values = new Set<number>();
  for (const part of text.split(',')) {
    const [, star, first, last, by] = PART.exec(part) ?? [];
    if (star === undefined && first === undefined)
      return `expected *, numbers, ranges and steps, not \`${part}\``;
    if (by !== undefined && star === undefined && last === undefined)
      return `a step needs a range or *, not \`${part}\``;
    const from = star ? min : Number(first);
    const to = star ? max : Number(last ?? first);
    if (from < min || to > max || from > to)
      return `expected ${min} to ${max}${from > to ? ' in order' : ''}, not \`${part}\``;
    const step = Number(by ?? 1);
    if (step < 1 || step > max) return `expected a step of 1 to ${max}, not \`${part}\``;
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return [...values].sort((a, b) => a - b);
}
