import { lookUp } from '../../resources/not-found.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'webhooks redeliver'> = async ({ args, context }) => {
  const client = await context.connect();
  const named = args.delivery;
  const delivery = await lookUp({ kind: 'webhooks', named }, () =>
    client.webhooks.redeliver(named, context.signal),
  );
  return { data: delivery, text: `webhook ${delivery.id} is sent again to ${delivery.url}` };
};
