import { nameOrganizations } from '../../config/actual/name-organizations.ts';
import { readActual } from '../../config/apply/apply.ts';
import { checkOnline } from '../../config/plan/check-online.ts';
import type { Diagnostic } from '../../config/source/diagnostic.ts';
import type { GatewayConfig } from '../../config/read/load-config.ts';
import { plan } from '../../config/plan/plan.ts';
import { toResourceClient } from '../resources/admin-resources.ts';
import { projectFile, type ProjectInput } from './project.ts';

/** Checks the references of the files against the gateway, and obstacles there. */
export async function validateOnline(
  input: ProjectInput,
  { desired: declared }: GatewayConfig,
): Promise<Diagnostic[]> {
  const client = await input.context.connect({ near: projectFile(input) });
  // An Agent or a model may name objects of a kind that the files do not declare.
  const managed = new Set([...declared.managed, 'agent', 'model', 'provider'] as const);
  const resources = toResourceClient(client);
  const actual = await readActual(resources, { ...declared, managed });
  const desired = nameOrganizations(declared, actual);
  const inventories = (await resources.inventories?.list()) ?? [];
  const compared = plan({ desired, actual, mode: 'apply', inventories });
  return checkOnline({ desired, actual, plan: compared });
}
