import { lookUp, skipMissing } from '../../resources/not-found.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'sessions delete'> = ({ args, flags, context }) =>
  skipMissing(flags, async () => {
    const client = await context.connect();
    const { signal } = context;
    const id = args.id;
    return lookUp({ kind: 'sessions', named: id }, async () => {
      await client.sessions.get(id, signal);
      await context.confirm(`Delete Session ${id} of ${client.baseUrl}? This cannot be undone.`);
      await client.sessions.delete(id, signal);
      return { data: { id }, text: `Session ${id} is deleted` };
    });
  });
