import { findDeployment } from '../../resources/find-deployment.ts';
import { oneLine } from '../../../core/printable.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'deployments test-notification'> = async ({ args, context }) => {
  const client = await context.connect();
  const { signal } = context;
  const { id, name } = await findDeployment(client, args.schedule, signal);
  await client.deployments.testNotification(id, signal);
  return {
    data: { id, delivered: true },
    text: `the chat of Schedule ${oneLine(name)} (${id}) accepted the test message`,
  };
};
