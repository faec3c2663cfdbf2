import type { IncomingHttpHeaders } from 'node:http';
import { createGoogleModelGet, createGoogleModelsList } from './generate-content-models.ts';
import type { Handler } from './http-exchange.ts';
import { createMessagesModelGet, createMessagesModelsList } from './messages-models.ts';
import { createModelGet, createModelsList } from './models.ts';
import type { ModelsDeps } from './models.ts';

/** Handlers of a path that several protocols share. */
export interface SharedHandlers {
  readonly list: Handler;
  readonly get: Handler;
}

/**
 * Answers `/v1/models` in the shape of the client's protocol: Google's for its official clients
 * (decisions: GET /v1/models shape) and, where every carrier is read, Messages for `anthropic-version`
 * and Google's for its key header.
 */
export function createSharedModels(deps: ModelsDeps): SharedHandlers {
  const google = { list: createGoogleModelsList(deps), get: createGoogleModelGet(deps) };
  const messages = { list: createMessagesModelsList(deps), get: createMessagesModelGet(deps) };
  const others = { list: createModelsList(deps), get: createModelGet(deps) };
  const choose = ({ headers }: { headers: IncomingHttpHeaders }): SharedHandlers => {
    if (headers['x-goog-api-client'] !== undefined) return google;
    if (!deps.readsEveryCarrier) return others;
    if (headers['anthropic-version'] !== undefined) return messages;
    const isGoogle = headers.authorization === undefined && 'x-goog-api-key' in headers;
    return isGoogle ? google : others;
  };
  return {
    list: (exchange) => choose(exchange.request).list(exchange),
    get: (exchange) => choose(exchange.request).get(exchange),
  };
}
