import type { Buffer } from 'node:buffer';
import type { IdSource } from '../../core/ids.ts';
import { GatewayError } from '../../core/errors.ts';
import type { JobHandler, Jobs } from '../../jobs/jobs.ts';
import type { Op } from '../../store/store.ts';
import type { RequestOrigin } from '../../usage/origin.ts';
import type { Principal } from '../../usage/principal.ts';
import type { Delivery } from '../../webhooks/delivery.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import { isVisible } from '../../surfaces/models.ts';
import { siblingOf } from '../identity.ts';
import { createInputChecker } from './check-input.ts';
import type { InputChecker } from './check-input.ts';
import type { RunRequest } from './read-run-request.ts';
import { toModelCall } from './run-call.ts';
import { createRunJob } from './run-job.ts';
import type { RunJobDeps } from './run-job.ts';
import { isOver, webhookPlace } from './run-record.ts';
import type { RunRecord } from './run-record.ts';
import { createRunRecords } from './run-records.ts';
import type { RunRecords } from './run-records.ts';
import { toRunBody, toRunEvent } from './run-views.ts';
import { waitForRun } from './wait-for-run.ts';
import type { WaitOptions } from './wait-for-run.ts';

export interface RunServiceOptions extends Omit<RunJobDeps, 'records' | 'webhooks'> {
  readonly jobs: Jobs;
  readonly webhooks: Pick<Webhooks, 'toSend' | 'check'>;
  readonly ids: IdSource;
  /** Milliseconds that a run which is over is kept. */
  readonly keepMs: number;
}

/** A request for a run, by whom it was made and when. */
export interface RunOrder {
  /** `req_…` */
  readonly requestId: string;
  /** Milliseconds since epoch. */
  readonly at: number;
  readonly principal: Principal;
  readonly origin?: RequestOrigin | undefined;
  readonly request: RunRequest;
  /** Further operations of the commit that makes it. */
  also?(record: RunRecord): Promise<readonly Op[]>;
}

/** Runs of models and APIs (contract: Capability runner); its only state is the store. */
export interface RunService {
  /**
   * Durable when it resolves; nothing was sent to a provider yet.
   *
   * @throws GatewayError `model_not_found`, `model_unavailable`, `invalid_request` with `param`
   */
  create(order: RunOrder): Promise<RunRecord>;
  /** Throws `not_found`. */
  find(organization: string, id: string): Promise<RunRecord>;
  /** Waits for the end of a run, or of the wait. Throws `not_found`. */
  wait(organization: string, id: string, options: WaitOptions): Promise<RunRecord>;
  /** Body that clients see. */
  show(record: RunRecord): Promise<Buffer>;
  /** Body of a webhook; undefined when the run is gone. */
  render(delivery: Delivery): Promise<string | undefined>;
  /** Handler of jobs of the kind `run`. */
  readonly handler: JobHandler;
}

export function createRunService(options: RunServiceOptions): RunService {
  const { store, jobs, clock, keepMs } = options;
  const records = createRunRecords(store, jobs, keepMs);
  const checker = createInputChecker();
  const find = async (organization: string, id: string): Promise<RunRecord> => {
    const entry = await records.find(organization, id);
    if (entry) return entry.value;
    throw new GatewayError('not_found', { message: 'run not found' });
  };
  const outputOf = async (record: RunRecord): Promise<Buffer | undefined> =>
    isOver(record) ? records.content(record) : undefined;

  return {
    find,
    create: (order) => create(order, { ...options, records, checker }),
    wait: (organization, id, options) =>
      waitForRun(() => find(organization, id), {
        ...options,
        clock,
        watch: (listener) => records.watch(organization, id, listener),
      }),
    show: async (record) => toRunBody(record, await outputOf(record)),
    async render({ id, organization, subject, type, at }) {
      const entry = await records.find(organization, subject);
      if (!entry) return undefined;
      const { value: record } = entry;
      return toRunEvent({ id, type, at }, { record, output: await outputOf(record) });
    },
    handler: createRunJob({ ...options, records }),
  };
}

interface CreateDeps extends Pick<RunServiceOptions, 'catalog' | 'sealer' | 'spoken' | 'webhooks'> {
  readonly records: RunRecords;
  readonly checker: InputChecker;
}

async function create(
  { requestId, at, principal, origin, request, also }: RunOrder,
  { catalog, sealer, spoken, webhooks, records, checker }: CreateDeps,
): Promise<RunRecord> {
  const { model: name, input, bytes, webhookUrl } = request;
  const model = catalog().models.get(name);
  if (!model || !isVisible(model, principal, name)) throw modelNotFound(name);
  await checker.check(model.schema, input);
  if (model.type !== 'api') await toModelCall(model, bytes, spoken.surfaces);
  if (webhookUrl !== undefined) await webhooks.check(webhookUrl);
  const { keyId, keyName, organizationId } = principal;
  const id = siblingOf(requestId, 'run');
  const record: RunRecord = {
    id,
    call: requestId,
    payer: { keyId, keyName, organizationId },
    ...(origin && { origin }),
    at,
    endedAt: null,
    model: model.id,
    status: 'queued',
    bytes: bytes.length,
    error: null,
    usage: null,
    cost: 0,
    video: null,
    webhook:
      webhookUrl === undefined
        ? null
        : { id: siblingOf(requestId, 'msg'), url: sealer.seal(webhookUrl, webhookPlace(id)) },
  };
  await records.add(record, bytes, await also?.(record));
  return record;
}

function modelNotFound(name: string): GatewayError {
  const shown = name.length > 200 ? `${name.slice(0, 200)}…` : name;
  const message = `the model \`${shown}\` does not exist; GET /v1/models?type= lists what there is`;
  return new GatewayError('model_not_found', { message, param: 'model' });
}
