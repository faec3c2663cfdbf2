import { GatewayError } from '../../core/errors.ts';
import { parseObjectKeepingDigits } from '../../core/json/digits.ts';
import { NO_USAGE } from '../../core/usage.ts';
import type { Usage } from '../../core/usage.ts';
import type { Call, TaskTracker } from '../../inference/types.ts';
import type { ProviderWork, Question, StreamReader } from '../../protocols/protocol.ts';
import { toWork } from '../../protocols/responses/responses-answer.ts';
import { isPending, measureItems } from '../../protocols/responses/responses-output.ts';
import { responsePin } from '../../protocols/responses/responses-pins.ts';
import { usageOfResponse } from '../../protocols/responses/responses-usage.ts';
import { allowsModel } from '../../routing/model-patterns.ts';
import type { Entry } from '../../store/store.ts';
import type { Principal } from '../../usage/principal.ts';
import { estimateTokens, priceOf } from '../../usage/spend/pricing.ts';
import { SHARED_ID } from '../identity.ts';
import type { TaskCharge, TaskDeps, TrackedTasks } from '../task-family.ts';
import type { TaskRecord } from '../task-rows.ts';
import { defineTask } from '../task.ts';
import { beginTask, recordOf } from '../track-creations.ts';

/** Response that was under way when its call was answered; its id is the provider's. */
export interface ResponseRecord extends TaskRecord {
  /** Id of the request that created it. */
  readonly call: string;
  /** Bytes of the request, for an estimate. */
  readonly inputBytes: number;
  readonly charge: 'due' | 'settled';
}

type Responses = TrackedTasks<ResponseRecord, ProviderWork>;

const NOTHING = { usage: NO_USAGE, estimated: false, cost: 0 };
const RESULTS: Readonly<Record<string, TaskCharge['result']>> = {
  failed: 'error',
  cancelled: 'aborted',
};
const TERMINAL: ReadonlySet<string> = new Set(['completed', 'incomplete', ...Object.keys(RESULTS)]);

/** Responses in the background (requirement responses.background). */
export const openResponses = defineTask<ResponseRecord, ProviderWork>({
  name: 'response',
  job: 'response-poll',
  protocol: 'responses',
  identity: SHARED_ID,
  pollMs: 5_000,
  tracker: createResponseTracker,
  isReserved: ({ charge }) => charge === 'due',
  read({ id }, body) {
    const work = toWork(parseObjectKeepingDigits(body.toString('utf8')) ?? {});
    return work?.id === id ? work : undefined;
  },
  endOf(record, seen) {
    if (typeof seen === 'string')
      return { ...NOTHING, result: 'interrupted', errorCode: 'response_lost' };
    return seen && isOver(seen) ? chargeOf(record, seen) : undefined;
  },
  close: ({ charge }) => (charge === 'due' ? { charge: 'settled' } : undefined),
});

/** True when its cost is known, also in a status that is not known yet. */
function isOver({ status, value }: ProviderWork): boolean {
  return TERMINAL.has(status) || (!isPending(status) && usageOfResponse(value) !== undefined);
}

/** Failed and cancelled work without usage is charged by an estimate if it has output, and not at all without. */
function chargeOf(record: ResponseRecord, { status, value }: ProviderWork): TaskCharge {
  const result = RESULTS[status] ?? 'ok';
  const told = usageOfResponse(value);
  const output = measureItems(value['output']);
  if (!told && output === 0 && result !== 'ok') return { ...NOTHING, result };
  const usage = told ?? estimate(record, output);
  return { result, usage, estimated: !told, ...priceOf(usage, record.pricing) };
}

function estimate({ inputBytes }: ResponseRecord, output: number): Usage {
  return { ...NO_USAGE, input: estimateTokens(inputBytes), output: estimateTokens(output) };
}

/**
 * Notes each Response that continues in the background before the client learns its id. It is settled once, by the
 * first that sees its end: a stream, a look of a client of its organization, or the durable job that is stored
 * together with it.
 */
function createResponseTracker(tasks: Responses, deps: TaskDeps): TaskTracker {
  const { rows } = tasks;
  const find = ({ organizationId }: Principal, id: string) => rows.find(organizationId, id);
  const settle = async ({ request }: Call, work: ProviderWork | undefined): Promise<boolean> => {
    const entry = work && (await find(request.principal, work.id));
    if (entry) await tasks.settle(entry, work);
    return entry !== undefined;
  };
  const begin = async (call: Call, work: ProviderWork): Promise<void> => {
    await beginTask(tasks, call, toRecord(call, work.id));
  };
  return {
    isFor: ({ background, question }) => background === true || question !== undefined,
    async modelOf(principal, question) {
      const model = await modelOf(principal, question, deps);
      const entry = question.method === 'DELETE' && (await find(principal, question.below[0]));
      if (entry) await refuseRunning(tasks, entry);
      return model;
    },
    async onAnswer(call, answer) {
      const { body, work } = answer;
      const { background, question } = call.peek;
      const continues = background === true && work !== undefined && isPending(work.status);
      if (continues) await begin(call, work);
      if (question) await settle(call, work);
      return { body, headers: {}, consumption: continues || question ? undefined : answer };
    },
    async onStream(call, { work }) {
      if (call.peek.background && work && isPending(work.status)) await begin(call, work);
    },
    async onStreamEnd(call, reader) {
      // Its job settles what cannot be settled now.
      const isTask = await settle(call, reader.work).catch(() => true);
      return isTask || call.peek.question ? undefined : consumptionOf(reader);
    },
  };
}

/** Undefined and unknown are the same to a client: another organization's is not found either. */
async function modelOf(
  { organizationId, allowedModels }: Principal,
  { below: [id] }: Question,
  { inference, catalog }: TaskDeps,
): Promise<string> {
  const model = await inference.affinity.modelOf(organizationId, responsePin(id));
  const names = model === undefined ? [] : [model, catalog().models.get(model)?.id ?? model];
  if (model !== undefined && allowsModel(allowedModels, names)) return model;
  const message =
    'response not found: only those that the provider itself keeps can be looked up, for 30 days; not with `store: false`, and not translated ones';
  throw new GatewayError('not_found', { message });
}

/** Deleted before its end, it would never be charged for. */
async function refuseRunning(tasks: Responses, entry: Entry<ResponseRecord>): Promise<void> {
  if (entry.value.charge !== 'due') return;
  const { entry: now, seen } = await tasks.lookUp(entry);
  if (now.value.charge !== 'due' || seen === 'not_found') return;
  const message = `the response is still running; POST /v1/responses/${now.value.id}/cancel first`;
  throw new GatewayError('conflict', { message, retry: false });
}

function consumptionOf({ usage, outputChars, ended }: StreamReader) {
  return { usage, outputChars, ended };
}

function toRecord(call: Call, id: string): ResponseRecord {
  const { request, inputBytes } = call;
  return { ...recordOf(call), id, call: request.id, inputBytes, charge: 'due' };
}
