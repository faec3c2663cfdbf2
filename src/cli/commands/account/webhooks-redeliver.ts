import type { CommandRun } from '../../command.ts';
import { lookUp } from '../../resources/not-found.ts';

export const run: CommandRun = async ({ args, context }) => {
  const client = await context.connect();
  const named = args['delivery'] ?? '';
  const delivery = await lookUp({ kind: 'webhooks', named }, () =>
    client.webhooks.redeliver(named, context.signal),
  );
  return { data: delivery, text: `webhook ${delivery.id} is sent again to ${delivery.url}` };
};
