import type { RunOf } from '../../commands.ts';

export const run: RunOf<'webhooks secret rotate'> = async ({ context }) => {
  const client = await context.connect();
  const rotated = await client.webhooks.rotateSecret(context.signal);
  return { data: rotated, text: rotated.secret };
};
