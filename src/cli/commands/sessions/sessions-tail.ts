import { eventLine, typesOf } from '../../output/event-line.ts';
import { showEvents } from '../../waiting/show-events.ts';
import { findWait } from '../../waiting/find-wait.ts';
import { waitingLines } from '../../waiting/waiting-words.ts';
import { lookUp, skipMissing } from '../../resources/not-found.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'sessions tail'> = ({ args, flags, context }) =>
  skipMissing(flags, async () => {
    const { output, signal } = context;
    const follow = !flags['no-follow'];
    const untilRest = flags['until-done'];
    const client = await context.connect();
    const id = args.id;
    await lookUp({ kind: 'sessions', named: id }, () => client.sessions.get(id, signal));
    const options = {
      follow,
      untilRest,
      last: flags.lines,
      types: typesOf(flags),
      async onWait() {
        const { waiting } = await client.sessions.get(id, signal);
        if (waiting) output.note(waitingLines(id, waiting));
      },
      signal,
    };
    return showEvents(client.sessions.tail(id, options), {
      output,
      textOf: (event) => `${eventLine(event)}\n`,
      isAwaited: untilRest,
      findWait: findWait(client, id, signal),
    });
  });
