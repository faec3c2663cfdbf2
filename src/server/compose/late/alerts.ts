import { findBudgetAlerts, refusalAlert } from '../../../alerts/budget-alerts.ts';
import { createAlerts } from '../../../alerts/create-alerts.ts';
import type { Alerts } from '../../../alerts/create-alerts.ts';
import { runAlert, sessionAlert, unpricedAlert } from '../../../alerts/event-alerts.ts';
import { raiseOutages } from '../../../alerts/outage-alerts.ts';
import { createMailSender } from '../../../alerts/send-mail.ts';
import { createWaitAlerts, WAITING_JOB } from '../../../alerts/wait-alerts.ts';
import type { WaitAlerts } from '../../../alerts/wait-alerts.ts';
import { toGatewayError } from '../../../core/errors.ts';
import { createSealer } from '../../../core/seal.ts';
import type { JobHandler, Jobs } from '../../../jobs/jobs.ts';
import { deployment } from '../../../resources/kinds/deployment.ts';
import { organization } from '../../../resources/kinds/organization.ts';
import { provider } from '../../../resources/kinds/provider.ts';
import type { Repository } from '../../../resources/store/repository.ts';
import { createMessageSender } from '../../../scheduler/notify/send-message.ts';
import type { RunRow } from '../../../scheduler/run-row.ts';
import type { SessionAnnouncer } from '../../../sessions/log/session-log.ts';
import type { Op, Store } from '../../../store/store.ts';
import { createUrlGuard } from '../../../upstream/guard/url-guard.ts';
import type { Budget } from '../../../usage/budgets/budget.ts';
import type { RequestStart } from '../../../usage/ledger/ledger.ts';
import { createSigningSecrets } from '../../../webhooks/signing-secrets.ts';
import { createWebhooks } from '../../../webhooks/webhooks.ts';
import type { RequestObserver } from '../../http/observe-requests.ts';
import { tellFailure } from '../report-store.ts';
import type { GatewayOptions } from '../gateway-options.ts';

/** The durable job that looks for states that no call shows; one process at a time runs it. */
const WATCH_JOB = 'alert-watch';
const WATCH_MS = 5_000;
/** Memory of the watch between its looks. */
interface Looked {
  /** Milliseconds since epoch. */
  readonly lookedAt: number;
}

const ANYWHERE = { organization: null };

export interface AlertPartsOptions extends Pick<
  GatewayOptions,
  'proxies' | 'config' | 'clock' | 'ids' | 'log' | 'random' | 'masterKeys' | 'mails'
> {
  readonly store: Store;
  readonly repository: Repository;
  readonly jobs: Pick<Jobs, 'toAdd' | 'toWake' | 'add'>;
}

/** Alerts to the targets of the settings; loaded where there are any. */
export interface AlertParts {
  readonly handlers: ReadonlyMap<string, JobHandler>;
  readonly observe: RequestObserver;
  exceeded(budget: Budget, start: RequestStart, refusal: unknown): void;
  /** Operations for the commit that decides a run. */
  ofRun(run: RunRow): Op[];
  /** The same for one that changes a Session. */
  readonly ofSession: SessionAnnouncer;
  close(): Promise<void>;
}

export async function createAlertParts(options: AlertPartsOptions): Promise<AlertParts> {
  const { config, clock, log, store, repository, jobs, masterKeys, proxies } = options;
  const sealer = createSealer(masterKeys);
  const allow = config.outbound.allow;
  const guard = createUrlGuard({ allow, proxies });
  const sender = createMessageSender({ own: config.notifications.webhooks, allow, proxies });
  const secrets = createSigningSecrets({ store, clock, sealer });
  const render = async (): Promise<undefined> => undefined;
  const keepMs = config.limits.runRetentionMs;
  const webhooks = createWebhooks({ ...options, sealer, guard, secrets, keepMs, render });
  const alerts = createAlerts({
    store,
    jobs,
    webhooks,
    sender,
    sendMail: createMailSender(guard),
    log,
    targets: { ...config.alerts, mails: options.mails },
  });
  const report = (error: unknown): void => tellFailure(log, 'an alert was not raised', { error });
  const home = async (): Promise<string> =>
    (await repository.find(organization, 'default', ANYWHERE))?.id ?? '';
  const nameOf = async (id: string): Promise<string> =>
    (await repository.find(provider, id, ANYWHERE))?.spec.name ?? id;
  const watch: JobHandler = async ({ job }) => {
    const at = clock.now();
    const since = (job.payload as Looked | null)?.lookedAt ?? at;
    for (const alert of await findBudgetAlerts({ repository, store }, { at, since }))
      await alerts.raise(alert);
    await raiseOutages({ store, nameOf, home, toRaise: alerts.toRaise }, at);
    return { againInMs: WATCH_MS, payload: { lookedAt: at } satisfies Looked };
  };
  const waits = createWaitAlerts({ ...options, alerts });
  await jobs.add({ kind: WATCH_JOB, id: WATCH_JOB, payload: null });
  return {
    handlers: new Map([[WATCH_JOB, watch], [WAITING_JOB, waits.handler], ...alerts.handlers]),
    observe({ id, principal }, { unpriced, answeredBy }) {
      if (!unpriced || !answeredBy) return;
      const { provider: by, model: asked, upstreamModel } = answeredBy;
      // An API answers under its own name, and the model asked for is a path given by the client.
      const model = asked === by ? by : upstreamModel;
      const call = { id, organization: principal.organizationId, provider: by, model };
      alerts.raise(unpricedAlert(call, clock.now())).catch(report);
    },
    exceeded(budget, { id, principal, model, at }, refusal) {
      const { limit } = toGatewayError(refusal);
      if (!limit) return;
      const call = { id, organization: principal.organizationId, model, at, limit };
      alerts.raise(refusalAlert(budget, call)).catch(report);
    },
    ofRun(run) {
      const alert = runAlert(run, clock.now());
      return alert ? alerts.toRaise(alert) : [];
    },
    ofSession: ofSession(options, { alerts, waits }),
    async close() {
      await Promise.all([sender.close(), guard.close()]);
    },
  };
}

/** Reports Sessions that begin to wait for a person, and those of Schedules whose work has failed. */
function ofSession(
  { repository, clock }: Pick<AlertPartsOptions, 'repository' | 'clock'>,
  { alerts, waits }: { readonly alerts: Alerts; readonly waits: WaitAlerts },
): SessionAnnouncer {
  return (before, after) => {
    const looks = waits.toLook({ before, after });
    if (looks.length > 0) return Promise.resolve(looks);
    const alertFor = (name: string) => sessionAlert({ before, after }, { name, at: clock.now() });
    const { deploymentId, organization } = after;
    if (deploymentId === null || !alertFor(deploymentId)) return undefined;
    return repository.find(deployment, deploymentId, { organization }).then((schedule) => {
      const alert = alertFor(schedule?.spec.name ?? deploymentId);
      return alert ? alerts.toRaise(alert) : [];
    });
  };
}
