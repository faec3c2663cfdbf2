import { lookUp, skipMissing } from '../../resources/not-found.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'sessions archive'> = ({ args, flags, context }) =>
  skipMissing(flags, async () => {
    const client = await context.connect();
    const { signal } = context;
    const id = args.id;
    return lookUp({ kind: 'sessions', named: id }, async () => {
      const { archived_at } = await client.sessions.get(id, signal);
      if (archived_at === null)
        await context.confirm(`Archive Session ${id} of ${client.baseUrl}? This cannot be undone.`);
      const archived = await client.sessions.archive(id, signal);
      return { data: archived, text: `Session ${id} is archived` };
    });
  });
