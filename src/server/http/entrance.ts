import type { IncomingMessage, ServerResponse } from 'node:http';
import { withOthers } from '../../core/turns/with-others.ts';
import { answerExchange } from '../../surfaces/http-exchange.ts';
import type { Arrival, ExchangeDeps, Handler } from '../../surfaces/http-exchange.ts';
import type { Envelope } from '../../protocols/family.ts';
import { shield } from './routes.ts';
import type { RoutesOptions } from './routes.ts';
import { failOutgoing, sendOutgoing } from './send-outgoing.ts';

/** Answers a request by itself, before the router; false: the router has it. */
export type Entrance = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Paths in the router's notation that match several. */
const IS_PATTERN = /[:*]/;

interface Place {
  readonly envelope: Envelope;
  readonly handler: Handler;
}

/**
 * Answers POST requests to the routes that say `isDirect` from Node.js, without the objects of the router
 * and its server, which cost as much as a tenth of a short call. Only the path as the route has it counts:
 * any other spelling, method or form of the target goes the usual way.
 */
export function createEntrance(options: RoutesOptions): Entrance {
  const places = new Map<string, Place>();
  for (const route of options.routes) {
    const { path, envelope, isDirect, methods } = route;
    if (!isDirect || !methods.POST || IS_PATTERN.test(path)) continue;
    places.set(path, { envelope, handler: shield(route, methods.POST, options) });
  }
  /** Requests whose answers have not begun. */
  let count = 0;
  const serve = async (arrival: Arrival, handler: Handler): Promise<void> => {
    await answerInFront(arrival, handler, options);
    count--;
  };
  return (request, response) => {
    if (request.method !== 'POST') return false;
    const place = places.get(pathOf(request.url ?? ''));
    if (!place) return false;
    const { envelope, handler } = place;
    const arrival = { request, response, envelope, startedAt: options.clock.monotonic() };
    withOthers(() => void serve(arrival, handler), ++count);
    return true;
  };
}

/** Answers without the router. Never rejects. */
export async function answerInFront(
  arrival: Arrival,
  handler: Handler,
  deps: ExchangeDeps,
): Promise<void> {
  const { response } = arrival;
  try {
    sendOutgoing(response, await answerExchange(arrival, handler, deps));
  } catch {
    failOutgoing(response);
  }
}

function pathOf(target: string): string {
  const query = target.indexOf('?');
  return query < 0 ? target : target.slice(0, query);
}
