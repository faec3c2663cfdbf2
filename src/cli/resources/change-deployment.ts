import type { Client } from '../../client/create-client.ts';
import { oneLine } from '../../core/printable.ts';
import type { DeploymentView } from '../../client/deployments.ts';
import type { CommandRun } from '../command.ts';
import { findDeployment } from './find-deployment.ts';
import { lookUp, skipMissing, wordOf } from './not-found.ts';

export interface DeploymentChange {
  /**
   * Verb of the question before a change that cannot be undone, `Delete`; absent: it can be undone.
   */
  ask?: string;
  /** State of the object afterwards, `deleted`. */
  done: string;
  act(client: Client, id: string, signal: AbortSignal): Promise<DeploymentView | void>;
}

/** Changes the one Schedule that the argument names, by its id or name. */
export function changeDeployment({ ask, done, act }: DeploymentChange): CommandRun {
  return ({ args, flags, context }) =>
    skipMissing(flags, async () => {
      const { signal } = context;
      const client = await context.connect();
      const named = args['deployment'] ?? '';
      const { id, name } = await findDeployment(client, named, signal);
      const called = `${wordOf('deployments')} ${oneLine(name)} (${id})`;
      if (ask !== undefined)
        await context.confirm(`${ask} ${called} of ${client.baseUrl}? This cannot be undone.`);
      const changed = await lookUp({ kind: 'deployments', named }, () => act(client, id, signal));
      return { data: changed ?? { id }, text: `${called} is ${done}` };
    });
}
