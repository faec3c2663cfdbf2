import type { CommandRun } from '../../command.ts';
import { usageError } from '../../cli-error.ts';
import { eventLine, typesOf } from '../../output/event-line.ts';
import { showEvents } from '../../output/show-events.ts';
import { lookUp, skipMissing } from '../../resources/not-found.ts';

export const run: CommandRun = ({ args, flags, context }) =>
  skipMissing(flags, async () => {
    const { output, signal } = context;
    const follow = !flags.on('no-follow');
    const untilRest = flags.on('until-done');
    if (untilRest && !follow) throw usageError('--no-follow and --until-done cannot be combined');
    const client = await context.connect();
    const id = args['id'] ?? '';
    await lookUp({ kind: 'sessions', named: id }, () => client.sessions.get(id, signal));
    const options = {
      follow,
      untilRest,
      last: flags.number('lines'),
      types: typesOf(flags),
      signal,
    };
    return showEvents(client.sessions.tail(id, options), {
      output,
      textOf: (event) => `${eventLine(event)}\n`,
      isAwaited: untilRest,
    });
  });
