import type { CommandRun } from '../../command.ts';

export const run: CommandRun = async ({ args, flags, context }) => {
  const client = await context.connect();
  const asked = {
    url: args['url'] ?? '',
    asset_type: flags.text('type') ?? '',
    name: flags.text('name'),
  };
  const made = await client.assets.create(asked, context.signal);
  return { data: made, text: made.asset_url };
};
