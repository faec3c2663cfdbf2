import { nameOrganizations } from '../../config/actual/name-organizations.ts';
import { readActual } from '../../config/apply/apply.ts';
import { checkOnline } from '../../config/plan/check-online.ts';
import type { Diagnostic } from '../../config/source/diagnostic.ts';
import type { GatewayConfig } from '../../config/read/load-config.ts';
import { plan } from '../../config/plan/plan.ts';
import { toResourceClient } from '../resources/admin-resources.ts';
import { readFollowed } from './followed.ts';
import { projectFile, type ProjectInput } from './project.ts';

/** Checks the references of the files against the gateway, and obstacles there. */
export async function validateOnline(
  input: ProjectInput,
  config: GatewayConfig,
): Promise<Diagnostic[]> {
  const { desired: declared } = config;
  const client = await input.context.connect({ near: projectFile(input) });
  // An Agent or a model may name objects of a kind that the files do not declare.
  const managed = new Set([...declared.managed, 'agent', 'model', 'provider'] as const);
  const resources = toResourceClient(client);
  const actual = await readActual(resources, { ...declared, managed });
  const desired = nameOrganizations(declared, actual);
  const inventories = (await resources.inventories?.list()) ?? [];
  const followed = await readFollowed(client, config, input.context);
  const mode = followed?.isSame ? 'converge' : 'apply';
  const compared = plan({ desired, actual, mode, inventories });
  return checkOnline({ desired, actual, plan: compared });
}
