import { GatewayError, toGatewayError } from '../core/errors.ts';
import type { WireProtocol } from '../protocols/protocol.ts';
import type { Catalog, Model, ModelType } from '../routing/catalog.ts';
import { matchesModel } from '../routing/model-patterns.ts';
import { planCandidates } from '../routing/plan.ts';
import type { Plan } from '../routing/plan.ts';
import { clientHeaders } from '../upstream/response-headers.ts';
import type { Ledger } from '../usage/ledger.ts';
import { boundOf } from '../usage/pricing.ts';
import type { Principal } from '../usage/principal.ts';
import { createContentRecorder } from './content-recorder.ts';
import { runCall } from './run-call.ts';
import type { CallDeps, CommittedResult } from './run-call.ts';
import { settleCall, settleError } from './settlement.ts';
import type { Call, CallResult, ClientConnection } from './types.ts';

export interface InferenceDeps extends CallDeps {
  ledger: Ledger;
  random(): number;
  /** Output tokens that a request without a limit of its own may cost (config: limits.output_tokens_bound). */
  outputBound: number;
  /** Keep prompts and answers in the records (config: log.content). */
  keepContent: boolean;
}

export interface InferenceRequest {
  id: string;
  /** Milliseconds since epoch, and Clock.monotonic(), at arrival. */
  at: number;
  startedAt: number;
  /** `chat`, `responses` … as records and reports name it. */
  surface: string;
  protocol: WireProtocol;
  principal: Principal;
  catalog: Catalog;
  body: Buffer;
  client: ClientConnection;
  repeatable: boolean;
  /** The only type of model that is taken; any other is refused with `invalid_request`. */
  modelType?: ModelType | undefined;
  /** What the client is told in place of an error. Default: the error itself. */
  toClientError?: ((error: GatewayError) => GatewayError) | undefined;
}

/**
 * Takes one authenticated request from its bytes to an answer, or to the beginning of a stream
 * (design: One inference request, in order). Whatever happens, the record is settled exactly once.
 *
 * @throws GatewayError for everything that is answered with an error of the surface
 */
export async function runInference(
  request: InferenceRequest,
  deps: InferenceDeps,
): Promise<CallResult> {
  const peek = request.protocol.peek(request.body);
  const model = findModel(request, peek.model);
  const plan = planFor(request, model, deps);
  const call = begin(request, { peek, model, plan }, deps);
  try {
    if (call.entry.admitted) await call.entry.admitted;
    const committed = await runCall(call, plan, deps);
    return await deliver(call, committed, deps);
  } catch (thrown) {
    const common = toGatewayError(thrown);
    const error = request.toClientError?.(common) ?? common;
    settleError(call, error, deps.clock);
    throw error;
  }
}

function findModel({ catalog, principal, modelType }: InferenceRequest, name: string): Model {
  const model = catalog.models.get(name);
  if (!model || !isAllowed(name, principal)) throw modelNotFound(name);
  if (modelType === undefined || model.type === modelType) return model;
  const message = `\`${model.id}\` is no ${modelType} model; GET /v1/models?type=${modelType} lists those`;
  throw new GatewayError('invalid_request', { message, param: 'model' });
}

function isAllowed(name: string, { allowedModels }: Principal): boolean {
  return allowedModels === null || matchesModel(allowedModels, name);
}

function modelNotFound(name: string): GatewayError {
  const shown = name.length > 200 ? `${name.slice(0, 200)}…` : name;
  return new GatewayError('model_not_found', {
    message: `the model \`${shown}\` does not exist or has no route; GET /v1/models lists what there is`,
    param: 'model',
  });
}

function planFor(request: InferenceRequest, model: Model, deps: InferenceDeps): Plan {
  const plan = planCandidates({
    catalog: request.catalog,
    model,
    protocol: request.protocol.id,
    health: deps.health,
    random: deps.random,
    affinity: request.principal.keyId,
    allows: (one) => isAllowed(one.id, request.principal),
  });
  if (plan.candidates.length === 0) throw modelNotFound(model.id);
  return plan;
}

function begin(
  request: InferenceRequest,
  { peek, model, plan }: Pick<Call, 'peek' | 'model'> & { plan: Plan },
  deps: InferenceDeps,
): Call {
  const outputBound = peek.outputBound ?? model.maxOutputTokens ?? deps.outputBound;
  const bounds = plan.candidates.map(({ route }) =>
    boundOf({ inputBound: peek.inputBound, outputBound, pricing: route.pricing }),
  );
  const entry = deps.ledger.begin({
    id: request.id,
    at: request.at,
    principal: request.principal,
    surface: request.surface,
    model: model.id,
    stream: peek.stream,
    bound: Math.max(...bounds),
  });
  return {
    id: request.id,
    startedAt: request.startedAt,
    protocol: request.protocol,
    peek,
    model,
    client: request.client,
    entry,
    content: deps.keepContent ? createContentRecorder() : undefined,
    repeatable: request.repeatable,
    record: {
      attempts: [],
      losses: [],
      sentAt: undefined,
      firstContentAt: undefined,
      answeredBy: undefined,
      skipped: plan.skipped,
    },
  };
}

/** The record must be durable before the client sees anything of the answer (design: inference, step 7). */
async function deliver(
  call: Call,
  committed: CommittedResult,
  deps: InferenceDeps,
): Promise<CallResult> {
  try {
    await call.entry.durable;
  } catch (error) {
    if (committed.type === 'stream') committed.abort();
    throw error;
  }
  if (committed.type === 'answer') {
    const { answer, headers } = committed;
    call.content?.add(answer.body);
    settleCall(call, { status: 200, result: 'ok', consumption: answer }, deps.clock);
    return {
      type: 'body',
      status: 200,
      // It was read as JSON, whatever the provider calls it; clients go by the name.
      headers: { ...clientHeaders(headers), 'content-type': 'application/json' },
      body: answer.body,
    };
  }
  settleAtEnd(call, committed, deps).catch((thrown: unknown) => deps.onBug(thrown, call.id));
  return {
    type: 'stream',
    status: 200,
    headers: {
      ...clientHeaders(committed.headers),
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
    },
    body: committed.relay.body,
  };
}

async function settleAtEnd(
  call: Call,
  stream: Extract<CommittedResult, { type: 'stream' }>,
  deps: InferenceDeps,
): Promise<void> {
  const { failure, clientGone } = await stream.ended;
  const { usage, outputChars } = stream.reader;
  settleCall(
    call,
    {
      status: clientGone ? 499 : 200,
      result: clientGone ? 'aborted' : failure ? 'interrupted' : 'ok',
      errorCode: failure?.reason,
      consumption: { usage, outputChars },
    },
    deps.clock,
  );
}
