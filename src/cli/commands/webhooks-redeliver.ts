import type { CommandRun } from '../command.ts';

export const run: CommandRun = async ({ args, context }) => {
  const client = await context.connect();
  const delivery = await client.webhooks.redeliver(args['delivery'] ?? '', context.signal);
  return { data: delivery, text: `webhook ${delivery.id} is sent again to ${delivery.url}` };
};
