import { Buffer } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import { queryCount } from '../core/query-count.ts';
import { GOOGLE } from '../protocols/family.ts';
import { decodeModelPath } from '../protocols/generate-content/model-path.ts';
import type { Protocol } from '../protocols/registry.ts';
import type { Model } from '../routing/catalog.ts';
import type { Principal } from '../usage/principal.ts';
import { isServed, resolveBareName } from './bare-names.ts';
import { readKey } from './carriers.ts';
import { admit } from './gate.ts';
import type { Handler, HttpExchange } from './http-exchange.ts';
import { byId, isVisible, MODELS_READ } from './models.ts';
import type { ModelsDeps } from './models.ts';

/** Protocol of the clients that ask for these lists. */
const PROTOCOL: Protocol = 'generate-content';
const MAX_PAGE = 1000;

/**
 * `GET /v1beta/models`: every model in the shape of the official client; `pageSize` (at most 1,000,
 * default all) and `pageToken`.
 */
export function createGoogleModelsList(deps: ModelsDeps): Handler {
  return async (exchange) => {
    const principal = await admitReader(exchange, deps);
    const { size, after } = toPage(new URLSearchParams(exchange.search));
    const all = deps
      .catalog()
      .shown()
      .filter((model) => isVisible(model, principal) && model.id > after)
      .sort(byId);
    const page = all.slice(0, size);
    const last = all.length > page.length ? page.at(-1) : undefined;
    const next = last && { nextPageToken: Buffer.from(last.id).toString('base64url') };
    return { status: 200, body: { models: page.map(toGoogleModel), ...next } };
  };
}

/** `GET /v1beta/models/{model}`: one model in the same shape; bare names resolve as they do in calls. */
export function createGoogleModelGet(deps: ModelsDeps): Handler {
  return async (exchange) => {
    const principal = await admitReader(exchange, deps);
    const found = resolveBareName(decodeModelPath(exchange.path), PROTOCOL, deps.catalog());
    if (!found || !isVisible(found.model, principal, found.name))
      throw new GatewayError('model_not_found');
    return { status: 200, body: toGoogleModel(found.model) };
  };
}

async function admitReader(
  { request, search }: HttpExchange,
  deps: ModelsDeps,
): Promise<Principal> {
  const key = readKey(GOOGLE.carriers, request.headers, search);
  const { principal, leave } = await admit(key, MODELS_READ, deps);
  leave();
  return principal;
}

function toPage(query: URLSearchParams): { size: number; after: string } {
  const size = queryCount(query, 'pageSize', 0);
  const after = Buffer.from(query.get('pageToken') ?? '', 'base64url').toString('utf8');
  // 0 asks for the default.
  return { size: size ? Math.min(size, MAX_PAGE) : Infinity, after };
}

function toGoogleModel(model: Model): object {
  const { maxOutputTokens, description } = model;
  return {
    name: `models/${model.id}`,
    version: String(model.created),
    displayName: model.displayName,
    ...(description === null ? {} : { description }),
    ...(maxOutputTokens === undefined ? {} : { outputTokenLimit: maxOutputTokens }),
    supportedGenerationMethods: isServed(model, PROTOCOL)
      ? ['generateContent', 'streamGenerateContent', 'countTokens']
      : [],
  };
}
