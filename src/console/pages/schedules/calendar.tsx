import { localTime, toCalendar } from '../../logic/calendar.ts';
import type { CalendarDay, CalendarMark, PlacedMark } from '../../logic/calendar.ts';
import { duration } from '../../logic/format.ts';

/** Pixels of an hour. */
const HOUR = 18;
const HOURS = [0, 3, 6, 9, 12, 15, 18, 21];

interface CalendarProps {
  readonly days: readonly string[];
  readonly marks: readonly CalendarMark[];
  readonly zone: string;
  readonly now: number;
}

/** A week: past runs by what became of them, next ones outlined. */
export function Calendar({ days, marks, zone, now }: CalendarProps) {
  const today = localTime(now, zone);
  return (
    <section aria-label={`Week of ${days[0]}`}>
      <div class="week">
        <div class="hours" aria-hidden="true" style={{ height: `${HOUR * 24}px` }}>
          {HOURS.map((hour) => (
            <span key={hour} style={{ top: `${hour * HOUR}px` }}>
              {String(hour).padStart(2, '0')}:00
            </span>
          ))}
        </div>
        {toCalendar(days, marks, zone).map((day) => (
          <Day
            key={day.day}
            day={day}
            nowMinute={day.day === today.day ? today.minute : undefined}
          />
        ))}
      </div>
      <p class="legend">
        <span>
          <i class="run completed" /> completed
        </span>
        <span>
          <i class="run failed" /> failed or ended by time
        </span>
        <span>
          <i class="run waiting" /> waits for a person
        </span>
        <span>
          <i class="run next" /> next
        </span>
        <span>Times of {zone}</span>
      </p>
    </section>
  );
}

function Day({ day, nowMinute }: { day: CalendarDay; nowMinute: number | undefined }) {
  const at = new Date(`${day.day}T12:00:00Z`);
  const title = new Intl.DateTimeFormat('en-GB', {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    timeZone: 'UTC',
  }).format(at);
  return (
    <div class="day">
      <h3 class={nowMinute === undefined ? '' : 'today'}>
        {title}
        {day.clockChange !== 0 && (
          <span class="tag warn" title="The clocks change on this day">
            {day.clockChange > 0 ? '+' : '−'}
            {Math.abs(day.clockChange)} min
          </span>
        )}
      </h3>
      <ul style={{ height: `${HOUR * 24}px` }}>
        {day.marks.map((mark) => (
          <li key={mark.id} style={placeOf(mark)}>
            <Mark mark={mark} />
          </li>
        ))}
        {nowMinute !== undefined && (
          <li class="now" aria-hidden="true" style={{ top: `${(nowMinute / 60) * HOUR}px` }} />
        )}
      </ul>
    </div>
  );
}

function placeOf({ minute, lane, lanes }: PlacedMark): Record<string, string> {
  return {
    top: `${(minute / 60) * HOUR}px`,
    left: `calc(${(lane / lanes) * 100}% + 2px)`,
    width: `calc(${100 / lanes}% - 4px)`,
  };
}

const WORDS: Readonly<Record<CalendarMark['kind'], string>> = {
  completed: 'completed',
  failed: 'failed',
  ended_by_time: 'ended by time',
  waiting: 'waits for a person',
  running: 'running',
  pending: 'pending',
  unknown: 'ran',
  next: 'next',
};

function Mark({ mark }: { mark: PlacedMark }) {
  const time = `${String(Math.floor(mark.minute / 60)).padStart(2, '0')}:${String(mark.minute % 60).padStart(2, '0')}`;
  const late = mark.late !== undefined && mark.late > 1_000 ? `, ${duration(mark.late)} late` : '';
  const word = mark.why ? `${WORDS[mark.kind]}: ${mark.why}` : WORDS[mark.kind];
  const title = `${time} ${mark.name}, ${word}${late}`;
  const inner = (
    <>
      <span class="cut">
        {time} {mark.name}
      </span>
      <span class="hidden">{word + late}</span>
    </>
  );
  if (!mark.session)
    return (
      <span class={`run ${mark.kind}`} title={title}>
        {inner}
      </span>
    );
  return (
    <a class={`run ${mark.kind}`} title={title} href={`/console/sessions/${mark.session}`}>
      {inner}
    </a>
  );
}
