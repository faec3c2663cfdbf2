import { apply } from '../../src/config/apply/apply.ts';
import type { ApplyReport } from '../../src/config/apply/apply-options.ts';
import { converge, type ConvergeResult } from '../../src/config/apply/converge.ts';
import { comparePlan } from '../../src/cli/project/make-plan.ts';
import { loadConfig } from '../../src/config/read/load-config.ts';
import { resolveAllSecrets } from '../../src/config/read/secrets.ts';
import type { ResourceClient } from '../../src/config/actual/resource-client.ts';
import { ownerFor, type Plan, plan, type PlanOptions } from '../../src/config/plan/plan.ts';
import { bootstrap } from '../../src/resources/bootstrap.ts';
import { createResourceClient } from '../../src/server/compose/resource-client.ts';
import { makeResources } from '../resources/make-resources.ts';
import { memoryFiles } from './memory-files.ts';

/** Files of configuration against the resources of a gateway, without a server between them. */
export interface DeclaredOnGateway {
  readonly client: ResourceClient;
  /** Declarations and what there is, as an apply compares them. */
  compared(text: string): Promise<PlanOptions>;
  applied(text: string): Promise<{ plan: Plan; report: ApplyReport }>;
  started(text: string): Promise<ConvergeResult>;
}

export async function declaredOnGateway(
  env: Readonly<Record<string, string>> = {},
): Promise<DeclaredOnGateway> {
  const { repository } = makeResources();
  await bootstrap(repository);
  const client = createResourceClient(repository);
  const files = memoryFiles({});
  const load = async (text: string) => {
    const sources = memoryFiles({ '/gw/gateway.yaml': `version: 1\n${text}` });
    const read = await loadConfig({ paths: ['gateway.yaml'], env, cwd: '/gw', files: sources });
    if (!read.config) throw new Error(JSON.stringify(read.diagnostics));
    return read.config;
  };
  const compared = async (text: string): Promise<PlanOptions> => {
    const from = { config: await load(text), resources: client, server: 'memory' };
    const choice = { prune: false, adopt: false, writeSecrets: [] };
    return (await comparePlan(from, choice)).options;
  };
  return {
    client,
    compared,
    async applied(text) {
      const options = await compared(text);
      const { desired } = options;
      const { secrets } = await resolveAllSecrets(desired, { env, files });
      const made = plan(options);
      const owner = ownerFor(options);
      return { plan: made, report: await apply({ plan: made, desired, owner, client, secrets }) };
    },
    async started(text) {
      const sources = { env, files };
      const { desired } = await load(text);
      return converge({ desired, client, sources, secretMatches: () => true });
    },
  };
}
