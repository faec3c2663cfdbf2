import { parseDuration } from '../core/time/duration.ts';
import type { Duration } from '../core/time/duration.ts';
import type { ModelType } from '../core/model-type.ts';
import type { Protocol } from '../protocols/registry.ts';
import { capabilitiesAt } from '../protocols/capabilities/capabilities-of.ts';
import type { Capabilities } from '../protocols/capabilities/capabilities.ts';
import type { ProviderAccount } from '../providers/account.ts';
import type { ListedModel } from '../providers/listing/listed-model.ts';
import { guessType } from '../providers/listing/model-type.ts';
import { FREE, isPriced } from '../usage/usage.ts';
import type { LivePrices } from '../usage/prices/live-prices.ts';
import type { ListedModel as PublishedModel } from '../usage/prices/price-list.ts';
import { mergePricing, toPricing } from './resolve-pricing.ts';
import type { PricingRecord } from './resolve-pricing.ts';
import type { Pricing } from '../usage/usage.ts';
import type { ApiTarget } from './api.ts';
import type { Api, MinThroughput, Model, Route, Strategy, Timeouts } from './catalog.ts';

export interface TimeoutsRecord {
  first_content?: Duration | null | undefined;
  idle?: Duration | null | undefined;
  total?: Duration | null | undefined;
}

export interface RouteRecord {
  provider: string;
  upstream_model: string;
  protocols?: readonly Protocol[] | null | undefined;
  mapping: 'native' | 'translated';
  priority: number;
  weight: number;
  pricing?: PricingRecord | null | undefined;
  timeouts?: TimeoutsRecord | null | undefined;
  min_throughput?: { bytes_per_second: number; over: Duration } | null | undefined;
  response_model: 'provider' | 'logical';
  capabilities?: Partial<Capabilities> | null | undefined;
  enabled: boolean;
}

export interface ModelRecord {
  id: string;
  name: string;
  model_type: ModelType;
  display_name: string | null;
  description: string | null;
  enabled: boolean;
  capabilities: readonly string[];
  schema: unknown;
  context_window?: number | null;
  max_output_tokens: number | null;
  pricing?: PricingRecord | null | undefined;
  timeouts?: TimeoutsRecord | null | undefined;
  strategy: Strategy;
  fallbacks: readonly string[];
  routes: readonly RouteRecord[];
  version: number;
  created_at: string;
}

/** An account with what only its resource knows. */
export interface AccountRecord {
  account: ProviderAccount;
  enabled: boolean;
  /** Patterns of the models that it serves without a declaration; null for none. */
  models: readonly string[] | null;
  created_at: string;
  timeouts?: TimeoutsRecord | null | undefined;
  version: number;
}

export interface AliasRecord {
  name: string;
  model: string;
  enabled: boolean;
  version: number;
}

/** A target with what only its resource knows. */
export interface ApiRecord {
  id: string;
  target: ApiTarget;
  display_name: string | null;
  description: string | null;
  enabled: boolean;
  pricing?: PricingRecord | null | undefined;
  timeouts?: TimeoutsRecord | null | undefined;
  version: number;
  created_at: string;
}

/** Settings of the server for all models and APIs. */
export interface CatalogDefaults {
  /** Milliseconds. */
  timeouts: { firstContent: number; idle: number; total: number };
  /** True when the operator set the server's `first_content`, which then also bounds whole answers. */
  firstContentSet: boolean;
  /** Published prices. Default: none. */
  prices?: Pick<LivePrices, 'find'> | undefined;
}

export function toApi({ target, pricing, timeouts }: ApiRecord, defaults: CatalogDefaults): Api {
  return { ...target, pricing: toPricing(pricing), timeouts: toTimeouts([timeouts], defaults) };
}

/** Model as the catalog shows it; its schema is the input of `POST /v1/run`. */
export function toApiModel({
  target,
  created_at: createdAt,
  pricing,
  ...record
}: ApiRecord): Model {
  const { name, methods } = target;
  return {
    id: name,
    resourceId: record.id,
    type: 'api',
    displayName: record.display_name ?? name,
    description: record.description,
    vendor: name,
    created: Math.floor(Date.parse(createdAt) / 1000),
    capabilities: [],
    schema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'Below the address of the API.' },
        method: { enum: methods },
        query: { type: 'string' },
        body: { description: 'Sent as JSON.' },
      },
      required: ['path'],
      additionalProperties: false,
    },
    pricing: toPricing(pricing),
    maxOutputTokens: undefined,
    strategy: 'priority',
    fallbacks: [],
    routes: [],
  };
}

/** A model with the enabled routes of enabled providers; `accountOf` knows them by name and by id. */
export function toModel(
  record: ModelRecord,
  accountOf: (provider: string) => AccountRecord | undefined,
  defaults: CatalogDefaults,
): Model {
  const routes = record.routes.flatMap((route, index) => {
    const provider = accountOf(route.provider);
    if (!route.enabled || !provider?.enabled) return [];
    return [toRoute(route, { index, record, provider, defaults })];
  });
  const listed = published(routes[0], defaults);
  return {
    id: record.name,
    resourceId: record.id,
    type: record.model_type,
    displayName: record.display_name ?? record.name,
    description: record.description ?? listed?.description ?? null,
    vendor: record.name.includes('/') ? (record.name.split('/')[0] as string) : 'gateway',
    created: Math.floor(Date.parse(record.created_at) / 1000),
    capabilities: record.capabilities,
    schema: record.schema,
    pricing: shownPricing(record, routes[0]),
    contextWindow: record.context_window ?? listed?.contextWindow,
    maxOutputTokens: record.max_output_tokens ?? undefined,
    strategy: record.strategy,
    fallbacks: record.fallbacks,
    routes,
  };
}

/** Facts that the vendor of a route publishes of the model. */
function published(
  route: Route | undefined,
  { prices }: CatalogDefaults,
): PublishedModel | undefined {
  return route && prices?.find(route.provider.definition.id, route.upstreamModel);
}

/** Pricing that callers are shown: the model's own, else that of its first route where none says one. */
function shownPricing({ pricing, routes }: ModelRecord, first: Route | undefined): Pricing {
  const own = toPricing(pricing);
  const isSaid = isPriced(own) || routes.some((route) => route.pricing);
  return isSaid || !first ? own : first.pricing;
}

/** An undeclared model of a provider, by the provider's own name of it. */
export function toPassedThrough(
  provider: AccountRecord,
  { name: upstream, created }: ListedModel,
  defaults: CatalogDefaults,
): Model {
  const { account } = provider;
  const record: ModelRecord = {
    ...UNDECLARED,
    id: account.id,
    name: `${account.name}/${upstream}`,
    model_type: guessType(upstream),
    routes: [{ ...PLAIN_ROUTE, provider: account.name, upstream_model: upstream }],
    created_at: provider.created_at,
  };
  const model = toModel(record, () => provider, defaults);
  return { ...model, vendor: account.name, created: created ?? model.created };
}

const UNDECLARED: Omit<ModelRecord, 'id' | 'name' | 'model_type' | 'routes' | 'created_at'> = {
  display_name: null,
  description: null,
  enabled: true,
  capabilities: [],
  schema: null,
  max_output_tokens: null,
  strategy: 'priority',
  fallbacks: [],
  version: 0,
};

const PLAIN_ROUTE: Omit<RouteRecord, 'provider' | 'upstream_model'> = {
  mapping: 'native',
  priority: 0,
  weight: 1,
  response_model: 'provider',
  enabled: true,
};

interface RouteContext {
  index: number;
  record: ModelRecord;
  provider: AccountRecord;
  defaults: CatalogDefaults;
}

function toRoute(route: RouteRecord, { index, record, provider, defaults }: RouteContext): Route {
  const { account } = provider;
  const spoken = Object.keys(account.protocols) as Protocol[];
  return {
    id: `${account.name}/${route.upstream_model}#${index}`,
    provider: account,
    upstreamModel: route.upstream_model,
    protocols: new Set(
      route.protocols ? route.protocols.filter((one) => spoken.includes(one)) : spoken,
    ),
    mapping: route.mapping,
    priority: route.priority,
    weight: route.weight,
    pricing: routePricing(route, { record, provider, defaults }),
    timeouts: toTimeouts([route.timeouts, record.timeouts, provider.timeouts], defaults),
    minThroughput: toMinThroughput(route),
    responseModel: route.response_model,
    capabilities: {
      ...account.definition.capabilities,
      ...capabilitiesAt(account.definition.id, route.upstream_model),
      ...route.capabilities,
    },
    declared: route.capabilities ?? {},
  };
}

/** Declared prices disable published ones, which could belong to another contract. */
function routePricing(
  route: RouteRecord,
  { record, provider, defaults }: Omit<RouteContext, 'index'>,
): Pricing {
  const declared = mergePricing(record.pricing, route.pricing);
  if (isPriced(declared)) return declared;
  const { definition } = provider.account;
  if (definition.isFree) return FREE;
  return defaults.prices?.find(definition.id, route.upstream_model)?.pricing ?? {};
}

/** The nearest declaration wins: route, model, provider, server. */
function toTimeouts(
  levels: readonly (TimeoutsRecord | null | undefined)[],
  { timeouts: server, firstContentSet }: CatalogDefaults,
): Timeouts {
  const declared = (name: keyof TimeoutsRecord): number | undefined => {
    const found = levels
      .map((level) => level?.[name])
      .find((value) => value !== null && value !== undefined);
    return found === undefined || found === null ? undefined : parseDuration(found);
  };
  const total = declared('total') ?? server.total;
  const firstContent = declared('first_content');
  const bound = firstContent ?? (firstContentSet ? server.firstContent : undefined);
  return {
    firstContent: firstContent ?? server.firstContent,
    wholeAnswer: bound ?? total,
    idle: declared('idle') ?? server.idle,
    total,
  };
}

function toMinThroughput({ min_throughput: rule }: RouteRecord): MinThroughput | undefined {
  return rule
    ? { bytesPerSecond: rule.bytes_per_second, over: parseDuration(rule.over) }
    : undefined;
}
