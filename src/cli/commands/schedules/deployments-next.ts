import { cronFault, cronInNumbers, isTimeZone, upcomingInstants } from '../../../core/time/cron.ts';
import { usageError } from '../../cli-error.ts';
import { readTime } from '../../input/read-time.ts';
import { localTime } from '../../output/local-time.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'deployments next'> = async ({ args, flags, context }) => {
  const expression = args.expression;
  const timezone = flags.timezone;
  const fault = cronFault(expression);
  if (fault !== undefined) {
    const numbers = cronInNumbers(expression) ?? '0 7 * * 1-5';
    throw usageError(
      `not a cron expression: ${fault}`,
      `quote five fields of numbers as one argument: '${numbers}'`,
    );
  }
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
