import { collect } from '../../../client/http/pages.ts';
import { eventLine, typesOf } from '../../output/event-line.ts';
import { lookUp } from '../../resources/not-found.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'sessions events'> = async ({ args, flags, context }) => {
  const client = await context.connect();
  const filters = { types: typesOf(flags) };
  const id = args.id;
  const events = await lookUp({ kind: 'sessions', named: id }, () =>
    collect(client.sessions.events(id, filters, context.signal)),
  );
  return {
    data: events,
    text: events.length === 0 ? 'no events' : events.map((event) => eventLine(event)).join('\n'),
  };
};
