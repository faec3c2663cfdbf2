import { GatewayError } from '../core/errors.ts';
import { queryCount } from '../core/query-count.ts';
import type { Model } from '../routing/catalog.ts';
import { readKey } from './carriers.ts';
import { admit } from './gate.ts';
import type { Handler, HttpExchange } from './http-exchange.ts';
import { byId, findModel, isVisible, MODEL_CARRIERS, MODELS_READ } from './models.ts';
import type { ModelsDeps } from './models.ts';

const MAX_PAGE = 1000;

/**
 * `GET /v1/models` in the shape of the Messages protocol, ordered by id: `limit` (1 to 1,000, the
 * default), `after_id` and `before_id`.
 */
export function createMessagesModelsList(deps: ModelsDeps): Handler {
  return async (exchange) => {
    const principal = await admitReader(exchange, deps);
    const page = readPage(new URLSearchParams(exchange.search));
    const models = deps
      .catalog()
      .shown()
      .filter((model) => isVisible(model, principal) && model.type === 'llm')
      .sort(byId);
    return { status: 200, body: toPage(models, page) };
  };
}

/** `GET /v1/models/{id}` in the same shape. */
export function createMessagesModelGet(deps: ModelsDeps): Handler {
  return async (exchange) => {
    const principal = await admitReader(exchange, deps);
    return { status: 200, body: toMessagesModel(findModel(exchange.path, principal, deps)) };
  };
}

async function admitReader({ request, search }: HttpExchange, deps: ModelsDeps) {
  const key = readKey(MODEL_CARRIERS.compatible, request.headers, search);
  const { principal, leave } = await admit(key, MODELS_READ, deps);
  leave();
  return principal;
}

interface Page {
  readonly limit: number;
  readonly after: string | null;
  readonly before: string | null;
}

function readPage(query: URLSearchParams): Page {
  const limit = queryCount(query, 'limit') ?? MAX_PAGE;
  if (limit > MAX_PAGE) {
    const message = `\`limit\` must be a whole number from 1 to ${MAX_PAGE}`;
    throw new GatewayError('invalid_request', { message, param: 'limit' });
  }
  return { limit, after: query.get('after_id'), before: query.get('before_id') };
}

function toPage(models: readonly Model[], { limit, after, before }: Page): object {
  const isBackwards = before !== null && after === null;
  const rest = models.filter(
    ({ id }) => (after === null || id > after) && (before === null || id < before),
  );
  const data = (isBackwards ? rest.slice(-limit) : rest.slice(0, limit)).map(toMessagesModel);
  return {
    data,
    has_more: rest.length > data.length,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
  };
}

function toMessagesModel(model: Model) {
  return {
    type: 'model',
    id: model.id,
    display_name: model.displayName,
    created_at: new Date(model.created * 1000).toISOString(),
    max_tokens: model.maxOutputTokens ?? null,
  };
}
