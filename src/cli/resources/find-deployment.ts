import type { Client } from '../../client/create-client.ts';
import type { DeploymentView } from '../../client/deployments.ts';
import { lookUp } from './not-found.ts';

/**
 * The Schedule with this id or name, of the organization of the key.
 *
 * @throws CliError `not_found` (exit 1); ClientError `ambiguous` for a name that several have
 */
export function findDeployment(
  client: Client,
  named: string,
  signal: AbortSignal,
): Promise<DeploymentView> {
  return lookUp({ kind: 'deployments', named }, () => client.deployments.find(named, signal));
}
