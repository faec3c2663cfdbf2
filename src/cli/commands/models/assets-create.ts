import type { RunOf } from '../../commands.ts';

export const run: RunOf<'assets create'> = async ({ args, flags, context }) => {
  const client = await context.connect();
  const asked = {
    url: args.url,
    asset_type: flags.type ?? '',
    name: flags.name,
  };
  const made = await client.assets.create(asked, context.signal);
  return { data: made, text: made.asset_url };
};
