import type { CommandRun } from '../../command.ts';

export const run: CommandRun = async ({ context }) => {
  const client = await context.connect();
  const rotated = await client.webhooks.rotateSecret(context.signal);
  return { data: rotated, text: rotated.secret };
};
