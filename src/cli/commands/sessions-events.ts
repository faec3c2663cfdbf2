import { collect } from '../../client/pages.ts';
import type { CommandRun } from '../command.ts';
import { eventLine, typesOf } from '../event-line.ts';

export const run: CommandRun = async ({ args, flags, context }) => {
  const client = await context.connect();
  const filters = { types: typesOf(flags) };
  const events = await collect(client.sessions.events(args['id'] ?? '', filters, context.signal));
  return {
    data: events,
    text: events.length === 0 ? 'no events' : events.map((event) => eventLine(event)).join('\n'),
  };
};
