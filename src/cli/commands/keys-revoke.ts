import type { CommandRun } from '../command.ts';

export const run: CommandRun = async ({ args, context }) => {
  const client = await context.connect();
  const keys = client.admin('keys');
  const key = await keys.get(args['id'] ?? '', context.signal);
  await context.confirm(
    `Revoke key ${key.name} (${key.id}) of ${client.baseUrl}? This cannot be undone.`,
  );
  const revoked = await keys.action(key.id, 'revoke', context.signal);
  return { data: revoked, text: `key ${key.name} (${key.id}) is revoked; this cannot be undone` };
};
