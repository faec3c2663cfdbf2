/** One minute as the wall clock of a zone shows it. */
interface Minute {
  /** Milliseconds since epoch. */
  readonly at: number;
  /** What the clock shows, in ms since epoch if it were UTC. */
  readonly shown: number;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const BOUNDS = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const;

/** Changes of clocks, of an hour and of half an hour, in both directions and in leap years too. */
export const CHANGES: readonly (readonly [timezone: string, at: number])[] = [
  ['Europe/Berlin', Date.UTC(2026, 2, 29, 1)],
  ['Europe/Berlin', Date.UTC(2026, 9, 25, 1)],
  ['America/New_York', Date.UTC(2028, 2, 12, 7)],
  ['America/New_York', Date.UTC(2028, 10, 5, 6)],
  ['Australia/Lord_Howe', Date.UTC(2026, 9, 3, 15, 30)],
  ['Australia/Lord_Howe', Date.UTC(2026, 3, 4, 15)],
  ['America/St_Johns', Date.UTC(2027, 2, 14, 5, 30)],
  ['Pacific/Auckland', Date.UTC(2026, 3, 4, 14)],
  ['Africa/Cairo', Date.UTC(2026, 3, 23, 22)],
  ['Asia/Kathmandu', Date.UTC(2028, 1, 28, 18, 15)],
];

const read = new Map<string, readonly Minute[]>();

/** Every minute from a day before a change to a day behind it. */
export function changesNear([timezone, change]: (typeof CHANGES)[number]): {
  timezone: string;
  minutes: readonly Minute[];
} {
  const name = `${timezone} ${change}`;
  const minutes = read.get(name) ?? readMinutes(timezone, change);
  read.set(name, minutes);
  return { timezone, minutes };
}

function readMinutes(timeZone: string, change: number): Minute[] {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  return Array.from({ length: (2 * DAY) / MINUTE }, (_, index) => {
    const at = change - DAY + index * MINUTE;
    return { at, shown: Date.parse(`${format.format(at).replace(' ', 'T')}Z`) };
  });
}

/** The instants at which an expression fires behind the first of these minutes. */
export function firesByHand(expression: string, minutes: readonly Minute[]): number[] {
  const fields = expression.split(' ');
  const values = fields.map(valuesOf);
  const isHourly = values[1]?.size === 24;
  const matches = (shown: number): boolean => isMatch(fields, values, new Date(shown));
  const seen = new Set<number>();
  const fired: number[] = [];
  for (const [index, { at, shown }] of minutes.entries()) {
    const before = minutes[index - 1]?.shown ?? shown;
    let fires = matches(shown) && (isHourly || !seen.has(shown));
    for (let skipped = before + MINUTE; skipped < shown; skipped += MINUTE)
      fires ||= !isHourly && matches(skipped);
    seen.add(shown);
    if (fires && index > 0) fired.push(at);
  }
  return fired;
}

/** POSIX: where both kinds of days are restricted, either will do. */
function isMatch(fields: readonly string[], values: readonly Set<number>[], shown: Date): boolean {
  const day = values[2]?.has(shown.getUTCDate());
  const weekday = values[4]?.has(shown.getUTCDay());
  const isDay = fields[2] === '*' ? weekday : fields[4] === '*' ? day : day || weekday;
  return (
    values[0]?.has(shown.getUTCMinutes()) === true &&
    values[1]?.has(shown.getUTCHours()) === true &&
    values[3]?.has(shown.getUTCMonth() + 1) === true &&
    isDay === true
  );
}

/** The values of a field, Sunday as 0. */
export function valuesOf(field: string, index: number): Set<number> {
  const [min, max] = BOUNDS[index] ?? [0, 0];
  const found = new Set<number>();
  for (const part of field.split(',')) {
    const [range = '', step = '1'] = part.split('/');
    const [from, to = from] = range === '*' ? [min, max] : range.split('-').map(Number);
    for (let value = from ?? 0; value <= (to ?? 0); value += Number(step))
      found.add(index === 4 ? value % 7 : value);
  }
  return found;
}
