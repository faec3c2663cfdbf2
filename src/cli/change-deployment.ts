import type { Client } from '../client/create-client.ts';
import { oneLine } from '../core/printable.ts';
import type { DeploymentView } from '../client/deployments.ts';
import type { CommandRun } from './command.ts';
import { skipMissing } from './skip-missing.ts';

export interface DeploymentChange {
  /** What cannot be undone is asked first, `Delete`; absent: it can be undone. */
  ask?: string;
  /** What it is afterwards, `deleted`. */
  done: string;
  act(client: Client, id: string, signal: AbortSignal): Promise<DeploymentView | void>;
}

/** Changes the one Schedule that the argument names, by its id or name. */
export function changeDeployment({ ask, done, act }: DeploymentChange): CommandRun {
  return ({ args, flags, context }) =>
    skipMissing(flags, async () => {
      const { signal } = context;
      const client = await context.connect();
      const { id, name } = await client.deployments.find(args['deployment'] ?? '', signal);
      const called = `deployment ${oneLine(name)} (${id})`;
      if (ask !== undefined)
        await context.confirm(`${ask} ${called} of ${client.baseUrl}? This cannot be undone.`);
      const changed = await act(client, id, signal);
      return { data: changed ?? { id }, text: `${called} is ${done}` };
    });
}
