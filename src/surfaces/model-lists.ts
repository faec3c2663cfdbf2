import type { IncomingHttpHeaders } from 'node:http';
import type { Envelope } from '../protocols/family.ts';
import { createGoogleModelGet, createGoogleModelsList } from './generate-content-models.ts';
import type { Handler } from './http-exchange.ts';
import { createMessagesModelGet, createMessagesModelsList } from './messages-models.ts';
import { createModelGet, createModelsList } from './models.ts';
import type { ModelsDeps } from './models.ts';

/** Handlers of a path that several protocols share, and the shape of its errors. */
export interface SharedHandlers {
  readonly list: Handler;
  readonly get: Handler;
  envelopeOf(headers: IncomingHttpHeaders): Envelope;
}

/** The same of one protocol. */
interface ModelHandlers {
  readonly list: Handler;
  readonly get: Handler;
  readonly envelope: Envelope;
}

/**
 * Answers `/v1/models` in the shape of the client's protocol: Google's for its official clients
 * (decisions: GET /v1/models shape) and, where every carrier is read, Messages for `anthropic-version`
 * and Google's for its key header.
 */
export function createSharedModels(deps: ModelsDeps): SharedHandlers {
  const google: ModelHandlers = {
    list: createGoogleModelsList(deps),
    get: createGoogleModelGet(deps),
    envelope: 'google',
  };
  const messages: ModelHandlers = {
    list: createMessagesModelsList(deps),
    get: createMessagesModelGet(deps),
    envelope: 'messages',
  };
  const others: ModelHandlers = {
    list: createModelsList(deps),
    get: createModelGet(deps),
    envelope: 'flat',
  };
  const choose = (headers: IncomingHttpHeaders): ModelHandlers => {
    if (headers['x-goog-api-client'] !== undefined) return google;
    if (!deps.readsEveryCarrier) return others;
    if (headers['anthropic-version'] !== undefined) return messages;
    const isGoogle = headers.authorization === undefined && 'x-goog-api-key' in headers;
    return isGoogle ? google : others;
  };
  return {
    list: (exchange) => choose(exchange.request.headers).list(exchange),
    get: (exchange) => choose(exchange.request.headers).get(exchange),
    envelopeOf: (headers) => choose(headers).envelope,
  };
}
