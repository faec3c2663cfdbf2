import type { Use } from '../../core/access.ts';
import { GatewayError } from '../../core/errors.ts';
import { deployment } from '../../resources/kinds/deployment.ts';
import { readObject } from '../../resources/fields/parse-body.ts';
import { statusOf, toRunView } from '../../scheduler/run-row.ts';
import type { RunRow } from '../../scheduler/run-row.ts';
import type { Notifier } from '../../scheduler/notify/notifier.ts';
import type { Scheduler } from '../../scheduler/scheduler.ts';
import type { Handler, HttpExchange, Reply } from '../../surfaces/http-exchange.ts';
import { readBody } from '../../surfaces/read-body.ts';
import type { Principal } from '../../usage/principal.ts';
import { forOrganization } from './organization-routes.ts';
import type { OrganizationDeps } from './organization-routes.ts';
import { originOf } from '../../audit/origin-of.ts';
import { segmentsBelow } from '../http/resource-exchange.ts';
import type { HandlersOf } from './lazy-routes.ts';
import { DEPLOYMENT_RUNS_PATH as RUNS, DEPLOYMENTS_PATH as PATH } from './outlines.ts';
import type { DEPLOYMENT_ROUTES } from './outlines.ts';
import { runsPage } from './run-pages.ts';

export interface DeploymentRoutesDeps extends OrganizationDeps {
  readonly scheduler: Scheduler;
  readonly notifier: Pick<Notifier, 'test'>;
}

interface Ask {
  readonly exchange: HttpExchange;
  readonly principal: Principal;
  readonly organization: string;
  /** Id of the Schedule, or of the run below {@link RUNS}. */
  readonly id: string;
  /** Path after the name of what lies below it. */
  readonly below: string;
}

type Serve = (ask: Ask, deps: DeploymentRoutesDeps) => Promise<Reply>;

/** Handlers of actions on Schedules and of their runs (contract: Schedules). */
export function deploymentHandlers(
  deps: DeploymentRoutesDeps,
): HandlersOf<typeof DEPLOYMENT_ROUTES> {
  const at = (use: Use, base: string, serve: Serve): Handler =>
    forOrganization({ scope: 'deployments', use }, deps, (exchange, principal) => {
      const [id = '', , below = ''] = segmentsBelow(base, exchange.path);
      const organization = principal.organizationId;
      return serve({ exchange, principal, organization, id, below }, deps);
    });
  return {
    listOfOne: at('read', PATH, listOfOne),
    trigger: at('call', PATH, trigger),
    getDecided: at('read', PATH, getDecided),
    testNotification: at('call', PATH, testNotification),
    listAll: at('read', RUNS, listAll),
    get: at('read', RUNS, get),
  };
}

const trigger: Serve = async ({ exchange, principal, organization, id }, deps) => {
  await refuseInput({ exchange, principal }, deps);
  const { keyId, keyName, organizationId } = principal;
  const payer = { keyId, keyName, organizationId };
  const { named } = exchange;
  const by = originOf(exchange, principal);
  const input = { organization, deploymentId: id, payer, named, by };
  return ok(toRunView(await deps.scheduler.trigger(input)));
};

const testNotification: Serve = async ({ exchange, principal, organization, id }, deps) => {
  await refuseInput({ exchange, principal }, deps);
  await deps.notifier.test(organization, id, async () => exchange.named?.willAct());
  return ok({ delivered: true });
};

const listOfOne: Serve = async ({ exchange, organization, id }, { repository, scheduler }) => {
  const definition = repository.definitionOf(deployment.kind);
  const { id: deploymentId } = await repository.get(definition, id, { organization });
  const query = new URLSearchParams(exchange.search);
  return ok(await runsPage(scheduler.runs, { organization, query, deploymentId }));
};

const listAll: Serve = async ({ exchange, organization }, { scheduler }) => {
  const query = new URLSearchParams(exchange.search);
  return ok(await runsPage(scheduler.runs, { organization, query }));
};

const get: Serve = async ({ organization, id }, deps) =>
  ok(toRunView(await findRun(organization, id, deps)));

/** Clients repeat a 409 by themselves, which waits for the decision. */
const getDecided: Serve = async ({ organization, id, below }, deps) => {
  const run = await findRun(organization, below, deps);
  if (run.deploymentId !== id) throw runNotFound();
  if (statusOf(run) !== 'pending') return ok(toRunView(run));
  const message = `run ${run.id} is not decided yet; try again when it is`;
  throw new GatewayError('conflict', { message, type: 'deployment_trigger_in_progress' });
};

async function findRun(
  organization: string,
  id: string,
  { scheduler }: DeploymentRoutesDeps,
): Promise<RunRow> {
  const run = await scheduler.runs.get(organization, id);
  if (run) return run;
  throw runNotFound();
}

function runNotFound(): GatewayError {
  return new GatewayError('not_found', { message: 'deployment_run not found' });
}

/**
 * Refuses input: a run does what the Schedule says (requirement deployments.trigger.no-overrides).
 */
async function refuseInput(
  { exchange, principal }: Pick<Ask, 'exchange' | 'principal'>,
  { maxBodyBytes: limit, resourceValues: values }: DeploymentRoutesDeps,
): Promise<void> {
  const bytes = await readBody(exchange, { limit, holder: principal.keyId });
  const [param] = Object.keys(await readObject(bytes, { optional: true, values }));
  if (param === undefined) return;
  const message = `${param}: expected an empty body or {}`;
  throw new GatewayError('invalid_request', { message, param });
}

const ok = (body: object): Reply => ({ status: 200, body });
