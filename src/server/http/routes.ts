import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { H3 } from 'h3';
import type { H3Event } from 'h3';
import { GatewayError } from '../../core/errors.ts';
import type { Envelope } from '../../protocols/family.ts';
import { answerExchange } from '../../surfaces/http-exchange.ts';
import type { ExchangeDeps, Handler } from '../../surfaces/http-exchange.ts';
import type { Cors } from './cors.ts';
import { absentAt, createPathRefuser } from '../paths/refuse-path.ts';
import { toWebResponse } from './send-outgoing.ts';

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** One served path, in the router's notation (`:name` a segment, `**` the rest). */
export interface RouteSpec {
  path: string;
  /** Shape of error bodies. */
  envelope: Envelope;
  /** The same where the headers of a request decide. Default: `envelope`. */
  envelopeOf?: (headers: IncomingHttpHeaders) => Envelope;
  methods: Partial<Record<Method, Handler>>;
  /** True: `HEAD` is not answered as `GET` is. Default false. */
  refusesHead?: boolean;
  /** True: POST to exactly this path is answered before the router. Default false. */
  isDirect?: boolean;
  /** True: asked by probes, which name the gateway by its address. Default false. */
  isProbe?: boolean;
}

export interface RoutesOptions extends ExchangeDeps {
  routes: readonly RouteSpec[];
  /** Refuses a request before anything else is looked at; used against DNS rebinding. */
  guard(request: IncomingMessage, isProbe?: boolean): void;
  /** Absent: no browser of another origin may read an answer. */
  cors?: Cors | undefined;
}

/** The HTTP application: every route, 405 with `Allow` for other methods, 404 for the rest. */
export function createApp(options: RoutesOptions): H3 {
  // Handlers decode the parts of a path that they use, and answer in their own shape.
  const app = new H3({ silent: true, allowMalformedURL: true });
  const routes = options.routes.map(withHead);
  for (const route of routes) {
    const { path, methods, envelopeOf = () => route.envelope } = route;
    for (const [method, handler] of Object.entries(methods)) {
      const safe = shield(route, handler, options);
      app.on(method as Method, path, (event) =>
        serve(event, envelopeOf(toNode(event).request.headers), safe),
      );
    }
  }
  for (const [path, { allow, envelope }] of allowedMethods(routes)) {
    const cors = isForBrowsers(path) ? options.cors : undefined;
    const refuse: Handler = (exchange) => refuseMethod(allow, exchange.path);
    const rest = cors ? cors.preflight(allow, refuse) : refuse;
    app.all(path, (event) => serve(event, envelope, rest));
  }
  const refusePath = createPathRefuser(routes);
  app.all('/**', (event) => {
    const { error, envelope } = refusePath(toNode(event).request);
    return answer(event, envelope, () => Promise.reject(error));
  });

  function serve(event: H3Event, envelope: Envelope, handler: Handler): Promise<Response> {
    return answer(
      event,
      envelope,
      asksForWebSocket(toNode(event).request) ? refuseWebSocket : handler,
    );
  }

  function answer(event: H3Event, envelope: Envelope, handler: Handler): Promise<Response> {
    return answerExchange({ envelope, ...toNode(event) }, handler, options).then(toWebResponse);
  }
  return app;
}

/** The listener speaks only HTTP/1.1 on Node, so these are never another runtime's or HTTP/2's. */
function toNode({ runtime }: H3Event): { request: IncomingMessage; response: ServerResponse } {
  return {
    request: runtime?.node?.req as IncomingMessage,
    response: runtime?.node?.res as ServerResponse,
  };
}

/** Serves `HEAD` with the handler of `GET`: the exchange leaves the body out. */
function withHead(route: RouteSpec): RouteSpec {
  const { GET, ...others } = route.methods;
  if (!GET || route.refusesHead) return route;
  return { ...route, methods: { GET, HEAD: GET, ...others } };
}

interface Refusal {
  /** The value of `Allow`. */
  allow: string;
  envelope: Envelope;
}

/** Refusals of other methods by path, in the shape of its family; families may share a path. */
function allowedMethods(routes: readonly RouteSpec[]): Map<string, Refusal> {
  const allowed = new Map<string, Refusal>();
  for (const { path, envelope, methods } of routes) {
    const known = allowed.get(path);
    const own = Object.keys(methods).join(', ');
    allowed.set(path, {
      allow: known === undefined ? own : `${known.allow}, ${own}`,
      envelope: known === undefined || known.envelope === envelope ? envelope : 'flat',
    });
  }
  return allowed;
}

/** Secrets and the control of the gateway are never a web page's business (requirement ops.cors-and-host). */
function isForBrowsers(path: string): boolean {
  return !/^\/(admin|v1\/credentials|v1\/webhooks\/secret)(\/|$)/.test(path);
}

/** The handler of a route with its guards, whichever way a request comes in. */
export function shield(
  { path, isProbe }: RouteSpec,
  handler: Handler,
  { guard, cors }: RoutesOptions,
): Handler {
  const guarded: Handler = (exchange) => {
    guard(exchange.request, isProbe);
    return handler(exchange);
  };
  return cors && isForBrowsers(path) ? cors.shared(guarded) : guarded;
}

/** Any other protocol (`h2c`) may be ignored, and any other method begins no WebSocket (RFC 6455, 4.1). */
function asksForWebSocket({ method, headers: { upgrade } }: IncomingMessage): boolean {
  return method === 'GET' && upgrade !== undefined && /(^|[\s,])websocket($|[\s,/])/i.test(upgrade);
}

/** Clients that probe for a WebSocket take 426 for no and continue over HTTP (RFC 9110, 7.8 and 15.5.22). */
async function refuseWebSocket(): Promise<never> {
  const headers = { upgrade: 'HTTP/1.1', connection: 'upgrade' };
  throw new GatewayError('websocket_refused', { headers });
}

async function refuseMethod(allow: string, path: string): Promise<never> {
  const { message } = absentAt(path) ?? {};
  throw new GatewayError('method_not_allowed', { headers: { allow }, ...(message && { message }) });
}
