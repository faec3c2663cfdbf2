import { createSealer } from '../../../core/seal.ts';
import { GatewayError } from '../../../core/errors.ts';
import { ActiveExchanges } from '../../../inference/active-exchanges.ts';
import type { JobHandler } from '../../../jobs/jobs.ts';
import { createPayerGate } from '../../../runtime/turn/payer-gate.ts';
import type { Admitted } from '../../../surfaces/gate.ts';
import { createApiCaller } from '../../../apis/api-caller.ts';
import { trackersOf } from '../../../tasks/open-tasks.ts';
import { createRunHandlers } from '../../../tasks/runs/run-handlers.ts';
import { RUN_JOB } from '../../../tasks/runs/run-record.ts';
import { createRunService } from '../../../tasks/runs/run-service.ts';
import type { RunService } from '../../../tasks/runs/run-service.ts';
import type { TaskDeps } from '../../../tasks/task-family.ts';
import { createTaskGet } from '../../../tasks/task-get.ts';
import { createUrlGuard } from '../../../upstream/guard/url-guard.ts';
import type { PayingKey } from '../../../usage/principal.ts';
import { WEBHOOK_JOB } from '../../../webhooks/delivery.ts';
import { createSigningSecrets } from '../../../webhooks/signing-secrets.ts';
import { alertBody } from '../../../alerts/alert.ts';
import { createWebhooks } from '../../../webhooks/webhooks.ts';
import type { GatewayOptions } from '../gateway-options.ts';
import type { LiveResources } from '../open-resources.ts';
import type { OrganizationDeps } from '../../routes/organization-routes.ts';
import type { PublicDeps } from '../../routes/public-routes.ts';
import type { HandlersOf } from '../../routes/lazy-routes.ts';
import type { RUN_ROUTES, WEBHOOK_ROUTES } from '../../routes/outlines.ts';
import { webhookHandlers } from '../../routes/webhook-handlers.ts';

export interface RunsOptions
  extends
    Pick<GatewayOptions, 'config' | 'clock' | 'ids' | 'log' | 'random' | 'masterKeys' | 'proxies'>,
    Pick<TaskDeps, 'jobs' | 'resultsKeptMs' | 'interactionWaitMs'>,
    OrganizationDeps,
    PublicDeps {
  readonly resources: Pick<LiveResources, 'keys' | 'catchUp'>;
}

/** Runs, their webhooks, and the status of tasks; loaded at the first use. */
export interface RunsParts {
  readonly runHandlers: HandlersOf<typeof RUN_ROUTES>;
  readonly webhookHandlers: HandlersOf<typeof WEBHOOK_ROUTES>;
  /** Handlers of their durable work, by kind of job. */
  readonly handlers: ReadonlyMap<string, JobHandler>;
  /** Runs after the jobs are closed. */
  close(): Promise<void>;
}

export function createRuns(options: RunsOptions): RunsParts {
  const { config, masterKeys, store, clock, tasks } = options;
  const keepMs = options.resultsKeptMs ?? config.limits.runRetentionMs;
  const guard = createUrlGuard({ allow: config.outbound.allow, proxies: options.proxies });
  const sealer = createSealer(masterKeys);
  const secrets = createSigningSecrets({ store, clock, sealer });
  // Calls of runs end with their jobs, which wait for them, and not with the streams of clients.
  const deps = { ...options, inference: { ...options.inference, active: new ActiveExchanges() } };
  const shared = { ...deps, sealer, keepMs };
  const webhooks = createWebhooks({
    ...shared,
    guard,
    secrets,
    render: (delivery) => alertBody(store, delivery) ?? runs.render(delivery),
  });
  const runs: RunService = createRunService({
    ...shared,
    webhooks,
    videos: tasks.videos,
    apis: createApiCaller(deps),
    trackers: trackersOf(tasks),
    admit: createAdmission(options),
  });
  const { create, get } = createRunHandlers({
    ...options,
    runs,
    runWaitMs: options.interactionWaitMs,
  });
  const task = createTaskGet({ ...options, runs });
  return {
    runHandlers: { create, get, task },
    webhookHandlers: webhookHandlers({ ...options, webhooks, secrets }),
    handlers: new Map([
      [RUN_JOB, runs.handler],
      [WEBHOOK_JOB, webhooks.handler],
    ]),
    close: () => guard.close(),
  };
}

/**
 * The key in its present state. Its request was counted when it was accepted; runs under way are
 * capped like requests, but apart from them, so that a client can look at its run meanwhile.
 */
function createAdmission({
  resources: { keys, catchUp },
  concurrency,
}: RunsOptions): (payer: PayingKey) => Promise<Admitted | undefined> {
  const admit = createPayerGate({
    rates: { isPlatformFull: () => false, admitPlatform: () => true, admitKey: () => true },
    concurrency: {
      enter: (principal) =>
        concurrency.enter({ ...principal, keyId: `${principal.keyId}/${RUN_JOB}` }),
    },
    async find({ keyId }) {
      const found = keys.find(keyId);
      if (found !== 'unknown') return found;
      // A key that was made a moment ago by another process is known before its run is refused.
      await catchUp();
      return keys.find(keyId);
    },
  });
  return async (payer) => {
    try {
      return await admit(payer);
    } catch (thrown) {
      if (thrown instanceof GatewayError && thrown.code === 'key_concurrency_exceeded')
        return undefined;
      throw thrown;
    }
  };
}
