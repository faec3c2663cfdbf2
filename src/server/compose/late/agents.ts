import { join } from 'node:path';
import { operatorNames } from '../../../config/schema/operator-names.ts';
import type { JobHandler, Jobs } from '../../../jobs/jobs.ts';
import type { InferenceDeps } from '../../../inference/run-inference.ts';
import type { SpokenProtocols } from '../../../protocols/load-protocols.ts';
import { loadFile } from '../../../resources/files/load-file.ts';
import { loadSkills } from '../../../resources/skills/load-skills.ts';
import type { Repository } from '../../../resources/store/repository.ts';
import { selectCredentials } from '../../../resources/kinds/select-credential.ts';
import type { Catalog } from '../../../routing/catalog.ts';
import { createHarnessRunner } from '../../../runtime/harness/create-harness-runner.ts';
import { createModelCaller } from '../../../runtime/turn/model-caller.ts';
import { createModelLoop } from '../../../runtime/model/model-loop.ts';
import type { TurnContent } from '../../../runtime/turn/turn-content.ts';
import { findOrganizationPayer } from '../../../runtime/turn/organization-payer.ts';
import { paysAsOrganization } from '../../../usage/principal.ts';
import { createPayerGate } from '../../../runtime/turn/payer-gate.ts';
import { createSealer } from '../../../core/seal.ts';
import { createReaper } from '../../../runtime/reaper/create-reaper.ts';
import { createMcpToolServers } from '../../../runtime/tools/mcp-tool-servers.ts';
import { createSessions } from '../../../sessions/create-sessions.ts';
import { withKnownFiles } from '../../../sessions/named-files.ts';
import { resolveAgent } from '../../../sessions/resolve-agent.ts';
import { harnessName } from '../../../sessions/resolved-agent.ts';
import type { Sessions, TurnRunner } from '../../../sessions/sessions.ts';
import type { Store } from '../../../store/store.ts';
import type { Admitted, GateDeps } from '../../../surfaces/gate.ts';
import { createUrlGuard } from '../../../upstream/guard/url-guard.ts';
import type { PayingKey } from '../../../usage/principal.ts';
import { VERSION } from '../../process/gateway-version.ts';
import type { GatewayOptions } from '../gateway-options.ts';
import type { LiveResources } from '../open-resources.ts';
import { resourceCarriers } from '../../routes/organization-routes.ts';
import type { HandlersOf } from '../../routes/lazy-routes.ts';
import type { SERVICE_ROUTES, SESSION_ROUTES } from '../../routes/outlines.ts';
import type { AlertParts } from './alerts.ts';
import { createServiceDesk } from './service-desk.ts';
import { createToolCredentials } from './tool-credentials.ts';
import { serviceHandlers } from '../../routes/service-handlers.ts';
import { sessionHandlers } from '../../routes/session-handlers.ts';
import type { SessionRoutesDeps } from '../../routes/session-handlers.ts';

export interface AgentsOptions
  extends
    Pick<
      GatewayOptions,
      | 'config'
      | 'clock'
      | 'ids'
      | 'log'
      | 'random'
      | 'programs'
      | 'environment'
      | 'proxies'
      | 'masterKeys'
    >,
    GateDeps {
  readonly store: Store;
  readonly repository: Repository;
  readonly resources: LiveResources;
  readonly jobs: Jobs;
  readonly inference: InferenceDeps;
  readonly spoken: SpokenProtocols;
  catalog(): Catalog;
  onBug(thrown: unknown, id: string): void;
  readonly alerts: Pick<AlertParts, 'ofSession'>;
  /** Streams of Sessions, which a stop ends. */
  readonly followers: SessionRoutesDeps['active'];
}

/** Sessions, what runs their turns, and the ways to reach them; loaded at the first use. */
export interface AgentsParts {
  readonly sessions: Sessions;
  /** Admits work in the name of a payer. */
  admit(payer: PayingKey): Promise<Admitted>;
  readonly sessionHandlers: HandlersOf<typeof SESSION_ROUTES>;
  readonly serviceHandlers: HandlersOf<typeof SERVICE_ROUTES>;
  /** Handlers of their durable work, by kind of job. */
  readonly handlers: ReadonlyMap<string, JobHandler>;
  /** Ends every process that turns run in; called after the jobs are closed. */
  close(): Promise<void>;
}

export function createAgents(options: AgentsOptions): AgentsParts {
  const { config, clock, ids, jobs, repository, store, followers } = options;
  const admit = payerGate(options);
  const { runner, close } = openRunner(options, admit);
  const operator = operatorNames(config);
  const announce = options.alerts.ofSession;
  const opened = { store, clock, ids, jobs, runner, operator, announce };
  const { sessions, handlers } = createSessions(opened);
  const checked = withKnownFiles(
    sessions,
    async (organization, id) => (await loadFile(repository, organization, id)) !== undefined,
  );
  const served = {
    ...options,
    sessions: checked,
    carriers: resourceCarriers(config.compat),
    maxBodyBytes: config.limits.bodyBytes,
    resourceValues: config.limits.resourceValues,
    active: options.inference.active,
  };
  return {
    sessions: checked,
    admit,
    sessionHandlers: sessionHandlers({
      ...served,
      active: followers,
      resolveAgent: (organization, reference) =>
        resolveAgent(repository, organization, { ...reference, operator, prefix: 'agent.' }),
    }),
    serviceHandlers: serviceHandlers({
      ...served,
      sealer: createSealer(options.masterKeys),
      desk: createServiceDesk(repository),
      standing: followers,
    }),
    handlers,
    close,
  };
}

/** The harness that an Agent names, else the built-in model loop. */
function openRunner(
  options: AgentsOptions,
  admit: AgentsParts['admit'],
): { runner: TurnRunner; close(): Promise<void> } {
  const { config, clock, log, repository, programs, proxies } = options;
  const guard = createUrlGuard({ allow: config.outbound.allow, proxies });
  const reaper = createReaper({ log });
  const credentials = createToolCredentials(options);
  const servers = { guard, stdioServers: programs.mcpServers, credentials };
  const content: TurnContent = {
    skills: ({ organization, agent }) => loadSkills(repository, organization, agent.skills),
    file: ({ organization }, id) => loadFile(repository, organization, id),
  };
  const loop = createModelLoop({
    ...options,
    model: createModelCaller({ ...options, admit }),
    servers: createMcpToolServers({
      ...options,
      ...servers,
      reaper,
      sealer: createSealer(options.masterKeys),
      version: VERSION,
    }),
    ...content,
  });
  const harness = createHarnessRunner({
    ...options,
    ...content,
    directory: join(config.dataDir, 'harness'),
    harnesses: programs.harnesses,
    harnessesInline: config.harnessesInline,
    servers,
    reaper,
    clock,
    version: VERSION,
    async credentialsFor({ organization, agent }) {
      const { id: agentId } = agent;
      const scopeName = harnessName(agent);
      if (agentId === null || scopeName === null) return {};
      const query = { organization, agentId, scopeName };
      const selected = await selectCredentials(query, options);
      return Object.fromEntries(selected.map(({ name, value }) => [name, value]));
    },
  });
  return {
    runner: {
      run: (turn, signal) =>
        (turn.session.agent.harness === null ? loop : harness).run(turn, signal),
    },
    async close() {
      await harness.close();
      await reaper.close();
      await guard.close();
    },
  };
}

function payerGate({
  repository,
  resources,
  rates,
  concurrency,
}: AgentsOptions): AgentsParts['admit'] {
  const { keys, catchUp } = resources;
  return createPayerGate({
    rates,
    concurrency,
    async find(payer) {
      if (paysAsOrganization(payer)) {
        const budgets = keys.keylessBudgets(payer.organizationId);
        return findOrganizationPayer(repository, payer, budgets);
      }
      const { keyId } = payer;
      // A key that was made a moment ago by another process is known before its turn is refused.
      const found = keys.find(keyId);
      if (found !== 'unknown') return found;
      await catchUp();
      return keys.find(keyId);
    },
  });
}
