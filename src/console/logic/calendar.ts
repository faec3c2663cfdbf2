import type { JoinedRun } from '../../client/deployment-runs.ts';
import type { RunOutcome } from '../../client/run-outcome.ts';

/** A moment on the clocks of a zone. */
export interface LocalTime {
  /** `2026-11-23` */
  readonly day: string;
  /** Minutes since midnight by the clock. */
  readonly minute: number;
}

export interface CalendarMark {
  readonly id: string;
  readonly at: number;
  readonly name: string;
  /** What became of the run, or the next one. */
  readonly kind: RunOutcome['type'] | 'next';
  /** Why it failed, or what its Session waits for. */
  readonly why?: string | null;
  /** Milliseconds from the time that it was due at to its beginning; undefined by hand. */
  readonly late: number | undefined;
  readonly session: string | null;
}

/** A run by what became of its Session. */
export function toRunMark(run: JoinedRun, schedule: string | undefined): CalendarMark {
  const due = run.trigger_context.scheduled_at;
  const at = Date.parse(run.created_at);
  return {
    id: run.id,
    at,
    name: schedule ?? run.deployment_id,
    kind: run.outcome.type,
    why: run.outcome.message,
    late: due === undefined ? undefined : at - Date.parse(due),
    session: run.session_id,
  };
}

/** A mark in its column of the day; those that would cover each other are side by side. */
export interface PlacedMark extends CalendarMark {
  readonly minute: number;
  /** Index among the `lanes` side by side, from 0. */
  readonly lane: number;
  readonly lanes: number;
}

export interface CalendarDay {
  readonly day: string;
  readonly marks: readonly PlacedMark[];
  /** Minutes that the clocks are changed by on this day. */
  readonly clockChange: number;
}

const MINUTE = 60_000;
const DAY = 86_400_000;

/** Reads the clocks of a zone. */
export function localTime(at: number, zone: string): LocalTime {
  const parts = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  }).formatToParts(at);
  const part = (type: string): string => parts.find((one) => one.type === type)?.value ?? '';
  return {
    day: `${part('year')}-${part('month')}-${part('day')}`,
    minute: Number(part('hour')) * 60 + Number(part('minute')),
  };
}

/** Monday of the week of an instant by the clocks of a zone, moved by whole weeks. */
export function weekOf(at: number, zone: string, weeks = 0): string[] {
  const { day } = localTime(at, zone);
  const noon = Date.parse(`${day}T12:00:00Z`);
  const monday = noon - (((new Date(noon).getUTCDay() + 6) % 7) - weeks * 7) * DAY;
  return Array.from({ length: 7 }, (_one, index) =>
    new Date(monday + index * DAY).toISOString().slice(0, 10),
  );
}

/** The days of a week with what happened and will happen on each. */
export function toCalendar(
  days: readonly string[],
  marks: readonly CalendarMark[],
  zone: string,
): CalendarDay[] {
  const placed = marks.map((mark) => ({ ...mark, ...localTime(mark.at, zone) }));
  return days.map((day) => ({
    day,
    marks: sideBySide(
      placed.filter((mark) => mark.day === day).sort((a, b) => a.minute - b.minute),
    ),
    clockChange: (DAY - lengthOf(day, zone)) / MINUTE,
  }));
}

/** Minutes that a mark takes on the page, so that its name can be read. */
const MARK_MINUTES = 54;

type TimedMark = CalendarMark & { readonly minute: number };

function sideBySide(marks: readonly TimedMark[]): PlacedMark[] {
  const groups: TimedMark[][] = [];
  let end = -1;
  for (const mark of marks) {
    if (mark.minute >= end) groups.push([]);
    groups.at(-1)?.push(mark);
    end = Math.max(end, mark.minute + MARK_MINUTES);
  }
  return groups.flatMap((group) =>
    group.map((mark, lane) => ({ ...mark, lane, lanes: group.length })),
  );
}

/** Milliseconds from the first moment of a day to that of the next. */
function lengthOf(day: string, zone: string): number {
  const midnight = Date.parse(day);
  return startOf(midnight + DAY, zone) - startOf(midnight, zone);
}

/** First moment of the day by the clocks of a zone, whose midnight in UTC is given. */
function startOf(midnight: number, zone: string): number {
  const nearby = midnight - aheadAt(midnight, zone);
  return midnight - aheadAt(nearby, zone);
}

/** Milliseconds that the clocks of a zone are ahead of UTC. */
function aheadAt(at: number, zone: string): number {
  const { day, minute } = localTime(at, zone);
  return Date.parse(day) + minute * MINUTE - Math.floor(at / MINUTE) * MINUTE;
}

/** Day and time by the clocks of a zone: `Mon 23 Nov 07:00`. */
export function zoned(at: number, zone: string): string {
  return new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  })
    .format(at)
    .replace(',', '');
}
