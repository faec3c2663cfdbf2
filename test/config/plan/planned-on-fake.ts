import { nameOrganizations } from '../../../src/config/actual/name-organizations.ts';
import type { ComparedSecret } from '../../../src/config/actual/resource-client.ts';
import { apply, readActual } from '../../../src/config/apply/apply.ts';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import { resolveAllSecrets } from '../../../src/config/read/secrets.ts';
import { ownerFor, plan, type PlanOptions } from '../../../src/config/plan/plan.ts';
import { formatDiagnostics } from '../../../src/config/source/diagnostic.ts';
import { FakeServer } from '../fake-server.ts';
import { memoryFiles } from '../memory-files.ts';

const ENV = { API_KEY: 'sk-upstream', ONE: 'value-of-key-one-1', TWO: 'value-of-key-two-2' };

/** Files of a namespace against a server that holds what former files made. */
export function planning() {
  const server = new FakeServer();
  const planOf = async (text: string, options: Partial<PlanOptions> = {}) => {
    const files = memoryFiles({ '/gw/gateway.yaml': `version: 1\nnamespace: team\n${text}` });
    const loaded = await loadConfig({ paths: ['/gw/gateway.yaml'], env: ENV, cwd: '/gw', files });
    if (!loaded.config) throw new Error(formatDiagnostics(loaded.diagnostics, 'text'));
    const actual = await readActual(server, loaded.config.desired);
    const desired = nameOrganizations(loaded.config.desired, actual);
    const planned: PlanOptions = { desired, actual, mode: 'apply', ...options };
    return { planned, plan: plan(planned), sources: loaded.config.sources };
  };
  return {
    server,
    planOf,
    async applied(text: string, options: Partial<PlanOptions> = {}) {
      const made = await planOf(text, options);
      const { secrets } = await resolveAllSecrets(made.planned.desired, made.sources);
      const owner = ownerFor(made.planned);
      const { desired } = made.planned;
      return apply({ plan: made.plan, desired, owner, client: server, secrets });
    },
  };
}

/** Answer of a server about a declared value. */
export function compared(given: Partial<ComparedSecret>): ComparedSecret {
  return { same: false, stored: 'aaaaaaaa', given: 'bbbbbbbb', holder: null, ...given };
}
