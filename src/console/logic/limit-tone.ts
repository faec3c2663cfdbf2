/** Percents of a limit at which a budget raises alerts; gateways name their own in `alerts_at`. */
const MARKS: readonly number[] = [50, 80, 100];

/**
 * Class of a bar that shows the spent share of a limit: none below the first mark, then a warning, and from the
 * second mark on an alarm.
 */
export function limitTone(share: number, marks = MARKS): '' | 'warn' | 'bad' {
  const [first = 100, second = first] = marks;
  const percent = share * 100;
  if (percent >= second) return 'bad';
  return percent >= first ? 'warn' : '';
}

/** The limit that refused a request, as a row names it: `budget blue`. */
export function refuserOf({ limit, name }: { limit: string; name: string | null }): string {
  return name === null ? limit : `${limit} ${name}`;
}
