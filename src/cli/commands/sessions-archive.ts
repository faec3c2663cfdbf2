import type { CommandRun } from '../command.ts';

export const run: CommandRun = async ({ args, context }) => {
  const client = await context.connect();
  const { id, archived_at } = await client.sessions.get(args['id'] ?? '', context.signal);
  if (archived_at === null)
    await context.confirm(`Archive session ${id} of ${client.baseUrl}? This cannot be undone.`);
  const archived = await client.sessions.archive(id, context.signal);
  return { data: archived, text: `session ${id} is archived` };
};
