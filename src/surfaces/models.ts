import { GatewayError } from '../core/errors.ts';
import { toPricingView } from '../routing/resolve-pricing.ts';
import type { Catalog, Model } from '../routing/catalog.ts';
import { allowsModel } from '../routing/model-patterns.ts';
import type { Principal } from '../usage/principal.ts';
import type { Carrier } from '../protocols/family.ts';
import type { WireProtocol } from '../protocols/protocol.ts';
import { readKey } from './carriers.ts';
import { routeCapabilities, servedProtocols } from './model-protocols.ts';
import type { Handler, HttpExchange } from './http-exchange.ts';
import { admit } from './gate.ts';
import { pathBelow } from './path-below.ts';
import type { GateDeps, Need } from './gate.ts';

export interface ModelsDeps extends GateDeps {
  catalog(): Catalog;
  /** True: keys are read from the headers of every official client (`server.compat.model_lists`). */
  readsEveryCarrier: boolean;
  /** Protocols that clients can speak. */
  protocols: readonly WireProtocol[];
}

/** Headers that may hold the key of a model list: Bearer decides where two are sent. */
export const MODEL_CARRIERS = {
  standard: ['bearer'],
  compatible: ['bearer', 'x-api-key', 'google-header'],
} as const satisfies Record<string, readonly Carrier[]>;

/** Demands on keys that list models. */
export const MODELS_READ: Need = { scope: 'models', use: 'read' };

type Order = (a: Model, b: Model) => number;

export const byId: Order = (a, b) => (a.id < b.id ? -1 : Number(a.id > b.id));

const ORDERS: ReadonlyMap<string, Order> = new Map<string, Order>([
  ['asc', byId],
  ['desc', (a, b) => byId(b, a)],
  ['newest', (a, b) => b.created - a.created || byId(a, b)],
  ['oldest', (a, b) => a.created - b.created || byId(a, b)],
]);

/**
 * `GET /v1/models` (contract: Model catalog): `q`, `vendor`, `type` (default `llm`, empty = all), `order`;
 * `details=true` adds what tables of models show, and the providers that are `open`.
 */
export function createModelsList(deps: ModelsDeps): Handler {
  return async (exchange) => {
    const principal = await admitReader(exchange, deps);
    const query = new URLSearchParams(exchange.search);
    const order = ORDERS.get(query.get('order') || 'asc');
    if (!order) {
      const message = `order must be one of ${[...ORDERS.keys()].join(', ')}`;
      throw new GatewayError('invalid_request', { message, param: 'order' });
    }
    const catalog = deps.catalog();
    const hasDetails = query.get('details') === 'true';
    const data = catalog
      .shown()
      .filter((model) => isVisible(model, principal) && matches(model, query))
      .sort(order)
      .map(hasDetails ? (model) => toRow(model, principal, deps) : toItem);
    const open = hasDetails && { open: openTo(principal, catalog) };
    return { status: 200, body: { object: 'list', data, has_more: false, ...open } };
  };
}

/** Providers whose models the key may call by any name; why a list failed is for administrators. */
function openTo({ allowedModels, scopes }: Principal, { open }: Catalog): object[] {
  const isAdmin = scopes?.has('admin') === true;
  return open
    .filter(({ provider, patterns }) =>
      patterns.some((pattern) => allowsModel(allowedModels, [`${provider}/${pattern}`])),
    )
    .map(({ problem, ...shown }) => ({ ...shown, ...(isAdmin && { problem }) }));
}

/** `GET /v1/models/{id_or_name}`: slashes of the name as they are or percent-encoded. */
export function createModelGet(deps: ModelsDeps): Handler {
  return async (exchange) => {
    const principal = await admitReader(exchange, deps);
    const model = findModel(exchange.path, principal, deps);
    const protocols = servedProtocols(model, deps.protocols);
    const routes = routeCapabilities(model, deps.protocols);
    return { status: 200, body: { ...toDetail(model), protocols, routes } };
  };
}

async function admitReader(
  { request, search }: HttpExchange,
  deps: ModelsDeps,
): Promise<Principal> {
  const carriers = MODEL_CARRIERS[deps.readsEveryCarrier ? 'compatible' : 'standard'];
  const { principal, leave } = await admit(
    readKey(carriers, request.headers, search),
    MODELS_READ,
    deps,
  );
  leave();
  return principal;
}

/** The model that a path below `/v1/models/` names. Throws `model_not_found`. */
export function findModel(
  path: string,
  principal: Principal,
  { catalog }: Pick<ModelsDeps, 'catalog'>,
): Model {
  const name = decode(pathBelow(path, '/v1/models'));
  const model = catalog().models.get(name);
  if (!model || !isVisible(model, principal, name)) throw new GatewayError('model_not_found');
  return model;
}

/** False for a model that the key may not use by the name that was asked for. */
export function isVisible(
  { id, aliasOf = id }: Model,
  { allowedModels }: Principal,
  asked = id,
): boolean {
  return allowsModel(allowedModels, [asked, id, aliasOf]);
}

function matches(model: Model, query: URLSearchParams): boolean {
  const type = query.get('type') ?? 'llm';
  const vendor = query.get('vendor');
  const needle = query.get('q')?.toLowerCase();
  if (type !== '' && model.type !== type) return false;
  if (vendor && model.vendor !== vendor) return false;
  return (
    !needle ||
    model.id.toLowerCase().includes(needle) ||
    model.displayName.toLowerCase().includes(needle)
  );
}

function toItem(model: Model): object {
  return { id: model.id, object: 'model', created: model.created, owned_by: model.vendor };
}

/** Providers and what their routes cost are shown only to administrators. */
function toRow(model: Model, principal: Principal, { protocols }: ModelsDeps): object {
  const isAdmin = principal.scopes?.has('admin') === true;
  return {
    ...toItem(model),
    display_name: model.displayName,
    type: model.type,
    context_window: model.contextWindow ?? null,
    max_output_tokens: model.maxOutputTokens ?? null,
    pricing: toPricingView(model.pricing),
    protocols: Object.keys(servedProtocols(model, protocols)),
    routes: model.routes.map((route) => ({
      protocols: [...route.protocols],
      ...(isAdmin && {
        provider: route.provider.name,
        upstream_model: route.upstreamModel,
        pricing: toPricingView(route.pricing),
      }),
    })),
  };
}

function toDetail(model: Model): object {
  return {
    ...toItem(model),
    display_name: model.displayName,
    description: model.description,
    type: model.type,
    capabilities: model.capabilities,
    context_window: model.contextWindow ?? null,
    max_output_tokens: model.maxOutputTokens ?? null,
    schema: model.schema ?? { type: 'object' },
    pricing: toPricingView(model.pricing),
  };
}

function decode(segments: string): string {
  try {
    return decodeURIComponent(segments);
  } catch {
    throw new GatewayError('model_not_found');
  }
}
