import { cronFault, isTimeZone, upcomingInstants } from '../../../core/time/cron.ts';
import { usageError } from '../../cli-error.ts';
import { readTime } from '../../input/read-time.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'deployments next'> = async ({ args, flags, context }) => {
  const expression = args.expression;
  const timezone = flags.timezone;
  const fault = cronFault(expression);
  if (fault !== undefined)
    throw usageError(
      `not a cron expression: ${fault}`,
      "quote five fields as one argument, such as '0 7 * * 1-5'",
    );
  if (!isTimeZone(timezone))
    throw usageError(`not a time zone: ${timezone}`, 'use an IANA name such as Europe/Berlin');
  const from = readTime(flags, 'from');
  const after = from === undefined ? context.clock.now() : Date.parse(from);
  const instants = upcomingInstants({ expression, timezone }, after, flags.count);
  const times = instants.map((at) => new Date(at).toISOString());
  return {
    data: { expression, timezone, upcoming_runs_at: times },
    text: times
      .map((time, index) => `${time}  ${localTime(instants[index] ?? 0, timezone)}`)
      .join('\n'),
  };
};

/** `Mon 2026-11-23 07:00 GMT+1`: what a clock on the wall there says. */
function localTime(at: number, timeZone: string): string {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone,
    hourCycle: 'h23',
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'shortOffset',
  });
  const parts = new Map(format.formatToParts(at).map(({ type, value }) => [type, value]));
  const part = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? '';
  const day = `${part('weekday')} ${part('year')}-${part('month')}-${part('day')}`;
  return `${day} ${part('hour')}:${part('minute')} ${part('timeZoneName')}`;
}
