/** Words that other dialects have for a whole expression. */
const NICKNAMES: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
]);
const MONTHS =
  'january february march april may june july august september october november december';
const DAYS = 'sunday monday tuesday wednesday thursday friday saturday';

interface Names {
  readonly of: readonly string[];
  /** Number of the first. */
  readonly first: number;
  /** Greatest number of the field. */
  readonly last: number;
  /** Number that follows the last one. */
  readonly next: number;
}

const MONTH_NAMES: Names = { of: MONTHS.split(' '), first: 1, last: 12, next: 1 };
// Sunday is 7 as well, so a range may end with it.
const DAY_NAMES: Names = { of: DAYS.split(' '), first: 0, last: 7, next: 1 };
/** Names and largest value of each of the five fields. */
const FIELDS: readonly { readonly max: number; readonly names?: Names }[] = [
  { max: 59 },
  { max: 23 },
  { max: 31 },
  { max: 12, names: MONTH_NAMES },
  { max: 7, names: DAY_NAMES },
];

/**
 * The same in numbers, of an expression that uses names of days and months, `@daily` and its kind, `?`, a step
 * from a number on (`5/15`), seconds that are 0 or every year; all else as it is.
 */
export function toNumericCron(expression: string): string {
  const text = expression.trim().toLowerCase();
  const nickname = NICKNAMES.get(text);
  if (nickname !== undefined) return nickname;
  return toFive(text.split(/\s+/))
    .map((field, index) => toNumbers(field, FIELDS[index] ?? { max: 0 }))
    .join(' ');
}

/** Without seconds and a year that say nothing. */
function toFive(fields: string[]): string[] {
  const withoutYear = fields.length === 7 && fields[6] === '*' ? fields.slice(0, 6) : fields;
  return withoutYear.length === 6 && withoutYear[0] === '0' ? withoutYear.slice(1) : withoutYear;
}

function toNumbers(field: string, { max, names }: (typeof FIELDS)[number]): string {
  if (field === '?') return '*';
  return field
    .split(',')
    .map((part) => {
      const [range = '', step] = part.split('/');
      const ends = range.split('-').map((end) => numberOf(end, names));
      const [from = '', to = step === undefined || from === '*' ? undefined : String(max)] = ends;
      const by = step === undefined ? '' : `/${step}`;
      return to === undefined ? `${from}${by}` : rangeOf(from, to, { by, names });
    })
    .join(',');
}

/** `fri-mon` is `5-7,1`. */
function rangeOf(
  from: string,
  to: string,
  { by, names }: { readonly by: string; readonly names: Names | undefined },
): string {
  if (names === undefined || by !== '' || !(Number(from) > Number(to))) return `${from}-${to}${by}`;
  const { last, next } = names;
  const rest = Number(to) < next ? [] : [spanOf(next, Number(to))];
  return [spanOf(Number(from), last), ...rest].join(',');
}

const spanOf = (from: number, to: number): string => (from === to ? `${from}` : `${from}-${to}`);

/** Three letters of a name, or all of them. */
function numberOf(text: string, names: Names | undefined): string {
  const at = names?.of.findIndex((name) => name === text || name.slice(0, 3) === text) ?? -1;
  return names === undefined || at < 0 ? text : String(names.first + at);
}
