import { Buffer } from 'node:buffer';
import type { Clock } from '../../core/time/clock.ts';
import { GatewayError } from '../../core/errors.ts';
import { toPublicMessage } from '../../core/redact.ts';
import type { Sealer } from '../../core/seal.ts';
import type { JobHandler, JobResult } from '../../jobs/jobs.ts';
import type { SpokenProtocols } from '../../protocols/load-protocols.ts';
import type { Catalog } from '../../routing/catalog.ts';
import { StoreError } from '../../store/store.ts';
import type { Store } from '../../store/store.ts';
import { findCharge } from '../../usage/spend/find-charge.ts';
import type { PayingKey } from '../../usage/principal.ts';
import { toUsageRecord } from '../../usage/requests/request-record.ts';
import { usageSums } from '../../usage/requests/request-row.ts';
import { knownCost } from '../../usage/usage.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import type { Admitted } from '../../surfaces/gate.ts';
import type { ApiCaller } from '../../apis/api-caller.ts';
import { siblingOf } from '../identity.ts';
import type { VideoRecord } from '../videos/video-record.ts';
import type { VideoService } from '../videos/video-task.ts';
import { toVideoObject } from '../videos/video-views.ts';
import { readApiInput, toApiResult } from './call-api.ts';
import { callModel } from './call-model.ts';
import type { CallCharge, CallDone, ModelDeps, ModelQuestion } from './call-model.ts';
import { toModelCall } from './run-call.ts';
import { INTERRUPTED, isOver, webhookPlace } from './run-record.ts';
import type { RunRecord } from './run-record.ts';
import type { RunEntry, RunRecords } from './run-records.ts';
import { eventTypeOf } from './run-views.ts';

/** A call under way gets so long to end by itself when the gateway stops. */
const GRACE_MS = 4_000;
const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** The end of a run is noted again so often while the store fails: it is not done a second time. */
const MAX_TRIES = 5;
const TRY_AGAIN_MS = 500;

export interface RunJobDeps extends ModelDeps {
  readonly spoken: Pick<SpokenProtocols, 'surfaces'>;
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly records: RunRecords;
  readonly webhooks: Pick<Webhooks, 'toSend'>;
  readonly videos: Pick<VideoService, 'find'>;
  readonly apis: Pick<ApiCaller, 'call'>;
  catalog(): Catalog;
  /** The payer as it is now; undefined while it has no slot for one more. Throws its `GatewayError`. */
  admit(payer: PayingKey): Promise<Admitted | undefined>;
}

/** Outcome of the work of a run. */
type Outcome = Pick<RunRecord, 'error' | 'usage' | 'cost'> & {
  readonly output?: Buffer | undefined;
};

/** Usage and cost of a run, which may have failed all the same. */
type Paid = Pick<RunRecord, 'usage' | 'cost'>;
const NOTHING: Paid = { usage: null, cost: 0 };

/**
 * Does one run. It is noted that the call begins before anything is sent, so one that was under way when
 * its process died is never made again: unless it left a task that can be asked for, it has failed
 * (requirement run.durable).
 */
export function createRunJob(deps: RunJobDeps): JobHandler {
  return async ({ job, signal }) => {
    const { organization } = job.payload as { organization: string };
    const entry = await deps.records.find(organization, job.id);
    if (!entry || isOver(entry.value)) return 'done';
    return entry.value.status === 'queued' ? begin(entry, signal, deps) : goOn(entry, deps);
  };
}

async function begin(entry: RunEntry, signal: AbortSignal, deps: RunJobDeps): Promise<JobResult> {
  let admitted: Admitted | undefined;
  try {
    admitted = await deps.admit(entry.value.payer);
  } catch (thrown) {
    // Nothing was sent yet: a store that fails is asked again.
    if (thrown instanceof GatewayError && thrown.code === 'persistence_failed') throw thrown;
    return end(entry, { ...failureOf(thrown), ...NOTHING }, deps);
  }
  if (!admitted) return { againInMs: SHORTEST_PAUSE_MS };
  try {
    const input = await deps.records.content(entry.value);
    const started = await deps.records.change(entry, { status: 'running' });
    if (!started) return { againInMs: 0 };
    return await carryOut(started, { ...admitted, input, signal }, deps);
  } finally {
    admitted.leave();
  }
}

interface Work extends Pick<Admitted, 'principal'> {
  readonly input: Buffer | undefined;
  readonly signal: AbortSignal;
}

async function carryOut(entry: RunEntry, work: Work, deps: RunJobDeps): Promise<JobResult> {
  const grace = withGrace(work.signal, deps.clock);
  let outcome: Outcome;
  let paid = NOTHING;
  const onSettled = (charge: CallCharge): void => void (paid = toPaid(charge));
  try {
    const asked = { ...work, signal: grace.signal, onSettled };
    const { isVideo, done } = await call(entry.value, asked, deps);
    if (isVideo) {
      const video = siblingOf(entry.value.call, 'video');
      const changed = await deps.records.change(entry, { video });
      return changed ? goOn(changed, deps) : { againInMs: 0 };
    }
    outcome = { ...done, ...paid };
  } catch (thrown) {
    if (thrown instanceof StoreError) throw thrown;
    // A failure that cost nothing has no usage to report.
    outcome = { ...failureOf(thrown), ...(paid.cost === 0 ? NOTHING : paid) };
  } finally {
    grace.release();
  }
  return end(entry, outcome, deps);
}

function toPaid({ usage, ...charge }: CallCharge): Paid {
  return { usage: toUsageRecord(usageSums({ usage })), cost: knownCost(charge) };
}

async function call(
  { call: id, model: name, origin }: RunRecord,
  work: Work & Pick<ModelQuestion, 'onSettled'>,
  deps: RunJobDeps,
): Promise<{ isVideo: boolean; done: CallDone }> {
  const { principal, input = Buffer.from('{}'), signal, onSettled } = work;
  await deps.inference.ledger.checkFunds(principal);
  const catalog = deps.catalog();
  const model = catalog.models.get(name);
  if (!model) throw new GatewayError('model_not_found');
  if (model.type === 'api') {
    const asked = await readApiInput(input);
    const head = { principal, origin, vendor: name, id, surface: 'run' };
    const question = { ...asked, ...head, signal, onSettled };
    return { isVideo: false, done: await toApiResult(await deps.apis.call(question)) };
  }
  const question = {
    id,
    call: await toModelCall(model, input, deps.spoken.surfaces),
    principal,
    origin,
    catalog,
    signal,
    onSettled,
  };
  return { isVideo: model.type === 'video', done: await callModel(question, deps) };
}

/** Continues from the result that a call left, or ends a run of unknown outcome. */
async function goOn(entry: RunEntry, deps: RunJobDeps): Promise<JobResult> {
  const { value: record } = entry;
  const id = record.video ?? siblingOf(record.call, 'video');
  const found = await deps.videos.find(record.payer.organizationId, id).catch(nothingFound);
  if (!found) return end(entry, await withoutVideo(record, id, deps), deps);
  const { value: video } = found;
  if (video.settlement !== 'reserved') return end(entry, await toOutcome(video, deps), deps);
  const age = deps.clock.now() - record.at;
  return { againInMs: Math.min(Math.max(age / 8, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS) };
}

const STOPPED: Outcome = {
  error: {
    code: INTERRUPTED,
    message:
      'the gateway stopped during the call, which may have been carried out; it is not made again',
  },
  ...NOTHING,
};

/** Outcome of a run whose video was deleted, or never came to be. */
async function withoutVideo(
  { video }: RunRecord,
  id: string,
  { store }: RunJobDeps,
): Promise<Outcome> {
  const charge = await findCharge({ store }, id);
  // A charge proves that the video was made.
  if (charge) return { ...charge, error: null };
  return video === null ? STOPPED : { ...NOTHING, error: NO_VIDEO };
}

const NO_VIDEO = { code: 'failed', message: 'the provider made no video' };

function nothingFound(thrown: unknown): undefined {
  if (thrown instanceof GatewayError && thrown.code === 'not_found') return undefined;
  throw thrown;
}

async function toOutcome(record: VideoRecord, { store }: RunJobDeps): Promise<Outcome> {
  const { video, id } = record;
  const paid = (await findCharge({ store }, id)) ?? NOTHING;
  if (video.state === 'failed') return { ...paid, error: video.error ?? NO_VIDEO };
  const shown = { ...toVideoObject(record), content_url: `/v1/videos/${id}/content` };
  return { ...paid, error: null, output: Buffer.from(JSON.stringify(shown)) };
}

function failureOf(thrown: unknown): Pick<Outcome, 'error'> {
  if (!(thrown instanceof GatewayError)) throw thrown;
  const { code, message } = thrown;
  return { error: { code, message: toPublicMessage(message) } };
}

/** The end and its notifications are one commit, so it is reported once (requirement run.webhook.delivered). */
async function end(entry: RunEntry, outcome: Outcome, deps: RunJobDeps): Promise<JobResult> {
  const { clock, records, sealer, webhooks } = deps;
  const { value: record } = entry;
  const { error, cost, usage, output } = outcome;
  const endedAt = clock.now();
  const status = error ? 'failed' : 'succeeded';
  const changes = { status, error, cost, usage, endedAt } as const;
  const told = record.webhook
    ? webhooks.toSend({
        id: record.webhook.id,
        organization: record.payer.organizationId,
        type: eventTypeOf({ status }),
        subject: record.id,
        at: endedAt,
        url: sealer.open(record.webhook.url, webhookPlace(record.id)),
      })
    : [];
  for (let tries = 1; ; tries++) {
    try {
      const ended = await records.end(entry, { changes, output }, told);
      return ended ? 'done' : { againInMs: 0 };
    } catch (thrown) {
      if (!(thrown instanceof StoreError)) throw thrown;
      // An output of that size is too large for ever; what the run came to stays true.
      if (thrown.code === 'too_large' && output)
        return end(entry, { usage, cost, error: error ?? TOO_LARGE }, deps);
      if (tries === MAX_TRIES) throw thrown;
      await new Promise<void>((resolve) => clock.setTimeout(resolve, TRY_AGAIN_MS * tries));
    }
  }
}

const TOO_LARGE = {
  code: 'invalid_upstream_response',
  message: 'the answer is too large to be kept as the output of a run',
};

/** A signal that is aborted a little later. */
function withGrace(signal: AbortSignal, clock: Clock): { signal: AbortSignal; release(): void } {
  const late = new AbortController();
  let timer: ReturnType<Clock['setTimeout']> | undefined;
  const onAbort = (): void => {
    timer = clock.setTimeout(() => late.abort(), GRACE_MS);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return {
    signal: late.signal,
    release() {
      signal.removeEventListener('abort', onAbort);
      timer?.cancel();
    },
  };
}
