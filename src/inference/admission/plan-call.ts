import type { AskedService } from '../../core/usage.ts';
import { GatewayError } from '../../core/errors.ts';
import type { RequestPeek } from '../../protocols/protocol.ts';
import type { Protocol } from '../../protocols/registry.ts';
import type { Affinity } from '../../routing/affinity.ts';
import type { Model } from '../../routing/catalog.ts';
import type { Health } from '../../routing/health.ts';
import { allowsModel } from '../../routing/model-patterns.ts';
import { planCandidates } from '../../routing/plan.ts';
import type { Plan } from '../../routing/plan.ts';
import { hasSpendingLimit } from '../../usage/ledger/ledger-call.ts';
import { asPersistence } from './persistence-error.ts';
import { promptCacheKey } from '../request-origin.ts';
import type { Call, InferenceRequest } from '../types.ts';

export interface PlanDeps {
  health: Health;
  affinity: Affinity;
  random(): number;
  /** Calls under a spending limit may use routes without a known price (config: limits.unpriced). */
  allowsUnpriced: boolean;
}

/** Model of a name that the caller may call; throws `model_not_found` or `invalid_request`. */
export function findModel(
  { catalog, principal, modelType }: InferenceRequest,
  name: string,
): Model {
  const model = catalog.models.get(name);
  if (!model || !allowsModel(principal.allowedModels, [name, model.id])) throw modelNotFound(name);
  if (modelType === undefined || model.type === modelType) return model;
  const message = `\`${model.id}\` is no ${modelType} model; GET /v1/models?type=${modelType} lists those`;
  throw new GatewayError('invalid_request', { message, param: 'model' });
}

function modelNotFound(name: string): GatewayError {
  const shown = name.length > 200 ? `${name.slice(0, 200)}…` : name;
  return new GatewayError('model_not_found', {
    message: `the model \`${shown}\` does not exist; GET /v1/models lists what there is`,
    param: 'model',
  });
}

/** Model and address of a request, as far as they decide about routes. */
export type Asked = Pick<Call, 'model' | 'peek' | 'origin'>;

export interface RefusablePlan extends Plan {
  /** Cause for having no candidate. */
  readonly refusal?: GatewayError;
}

/** Candidates of a call in the order of tries; one that continues another stays with its account. */
export function planFor(
  request: InferenceRequest,
  asked: Asked,
  deps: PlanDeps,
): RefusablePlan | Promise<RefusablePlan> {
  const { pins } = asked.peek;
  if (!pins || pins.length === 0) return makePlan(request, asked, deps);
  const { principal, tracker } = request;
  const owner =
    tracker?.ownerOf?.(principal, pins) ?? deps.affinity.find(principal.organizationId, pins);
  return owner.catch(asPersistence).then((account) => {
    const model = asked.peek.question ? atAccount(request, asked.model, account) : asked.model;
    return makePlan(request, { ...asked, model, account }, deps);
  });
}

/** The model, or another one with a route to the account where its own have none: a fallback or a downgrade answered. */
function atAccount({ catalog, protocol }: InferenceRequest, model: Model, account?: string): Model {
  const leads = ({ routes }: Model): boolean =>
    routes.some(({ provider, protocols }) => provider.id === account && protocols.has(protocol.id));
  return leads(model) ? model : ([...catalog.models.values()].find(leads) ?? model);
}

function makePlan(
  { catalog, protocol, principal, free = false }: InferenceRequest,
  { model, peek, origin, account }: Asked & { account?: string | undefined },
  deps: PlanDeps,
): RefusablePlan {
  const { nativeOnly } = peek;
  const plan = planCandidates({
    catalog,
    model,
    client: nativeOnly ? { id: protocol.id } : protocol,
    account,
    health: deps.health,
    random: deps.random,
    form: peek.stream ? 'stream' : 'whole',
    needsPrice:
      !deps.allowsUnpriced && !free && hasSpendingLimit(principal, { model: model.id, origin }),
    tools: () => protocol.toolsRequest?.(peek),
    asks: peek.asks,
    affinity: principal.keyId,
    conversation: origin?.conversation ?? promptCacheKey(peek.json),
    allows: (one) => allowsModel(principal.allowedModels, [one.id]),
  });
  if (plan.candidates.length > 0 || protocol.answerLocally) return plan;
  if (plan.skipped.some(({ reason }) => reason === 'unpriced'))
    return { ...plan, refusal: unpriced(model.id, peek.asks) };
  if (account === undefined && nativeOnly)
    return { ...plan, refusal: notNative(model.id, protocol.id, nativeOnly) };
  if (account === undefined) return { ...plan, refusal: unavailable(model.id) };
  const message = 'the provider that this request continues with no longer serves the model';
  return { ...plan, refusal: new GatewayError('no_route_succeeded', { message }) };
}

function unavailable(name: string): GatewayError {
  return new GatewayError('model_unavailable', {
    message: `no route of the model \`${name}\` can serve this request`,
    param: 'model',
  });
}

function notNative(
  model: string,
  protocol: Protocol,
  { name, param }: NonNullable<RequestPeek['nativeOnly']>,
): GatewayError {
  const message = `${name} needs a provider that speaks ${protocol} itself, and no route of \`${model}\` leads to one; GET /v1/models/{id} shows what serves a model`;
  return new GatewayError('unsupported_feature', { message, param });
}

/** Nothing that the client repeats changes it. */
function unpriced(name: string, { service = [], tools = {} }: AskedService = {}): GatewayError {
  const asked = [...service, ...Object.keys(tools)];
  const known = asked.length > 0 ? `a known price with ${asked.join(' and ')}` : 'a known price';
  const message = `no route of ${name} has ${known}; set pricing, or server.limits.unpriced: allow`;
  return new GatewayError('unpriced', { message, retry: false });
}
