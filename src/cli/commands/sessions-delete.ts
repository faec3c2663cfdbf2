import { skipMissing } from '../skip-missing.ts';
import type { CommandRun } from '../command.ts';

export const run: CommandRun = ({ args, flags, context }) =>
  skipMissing(flags, async () => {
    const client = await context.connect();
    const { id } = await client.sessions.get(args['id'] ?? '', context.signal);
    await context.confirm(`Delete session ${id} of ${client.baseUrl}? This cannot be undone.`);
    await client.sessions.delete(id, context.signal);
    return { data: { id }, text: `session ${id} is deleted` };
  });
