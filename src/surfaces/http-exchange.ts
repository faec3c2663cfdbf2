import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../core/time/clock.ts';
import { GatewayError, toGatewayError } from '../core/errors.ts';
import type { IdSource } from '../core/ids.ts';
import { inTurns } from '../core/turns/in-turns.ts';
import { stringifyWithRaw } from '../core/json/raw.ts';
import { isLong, writeSteps } from '../core/json/write-steps.ts';
import type { NamedCall } from '../store/named-call.ts';
import { StoreError } from '../store/store.ts';
import type { StoreErrorCode } from '../store/store.ts';
import type { ByteBudget } from '../core/memory/byte-budget.ts';
import type { CallResult, ClientConnection, PipeableBody } from '../inference/types.ts';
import { BodyIntake } from './bodies/body-intake.ts';
import { errorBody, errorHeaders } from './envelopes.ts';
import type { Envelope } from '../protocols/family.ts';
import type { Principal } from '../usage/principal.ts';

/** One HTTP exchange with a client, as handlers see it. */
export interface HttpExchange {
  /** `req_…`; sent in `x-request-id` and `request-id` of every answer. */
  readonly id: string;
  /** Milliseconds since epoch at arrival. */
  readonly at: number;
  /** Clock.monotonic() at arrival. */
  readonly startedAt: number;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The way of the request's body into the process. */
  readonly intake: BodyIntake;
  /** Path as sent, without the query, still percent-encoded. */
  readonly path: string;
  /** Query with its `?`, or empty. */
  readonly search: string;
  /** Present once a call has begun that the client named (`Idempotency-Key`). */
  readonly named?: NamedCall | undefined;
  /** Begins a call that the client named, once its key is let in. Rejects with {@link CallNotMade}. */
  readonly begin?: ((principal: Principal) => Promise<void>) | undefined;
}

/** Outcome of a named call that is not made: it is answered with what `answer` gives or throws. */
export class CallNotMade extends Error {
  readonly answer: () => Reply;

  constructor(answer: () => Reply) {
    super('a named call is answered without being made');
    this.answer = answer;
  }
}

/** Answer of a handler; bytes are sent as they are, objects as JSON. */
export interface Reply {
  status: number;
  headers?: Record<string, string>;
  body?: object | Buffer;
}

export type Handler = (exchange: HttpExchange) => Promise<Reply | CallResult>;

export interface ExchangeDeps {
  clock: Clock;
  ids: IdSource;
  /** The memory of all request bodies. */
  bodies: ByteBudget;
  /** Receives what no row of the error table foresaw. */
  onBug(thrown: unknown, requestId: string): void;
  /** Receives every error that is answered. */
  onRefused?(exchange: HttpExchange, error: GatewayError): void;
}

/** Message of a client, and the shape of its errors. */
export interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly envelope: Envelope;
  /** Clock.monotonic() at arrival. Default: the arrival is just now. */
  readonly startedAt?: number;
}

/** An answer as it goes out: names in lower case, text and bytes with their length still to be added. */
export interface Outgoing {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string | Buffer | PipeableBody | undefined;
}

/** Runs a handler and turns whatever comes of it into an answer with the request's id. */
export async function answerExchange(
  arrival: Arrival,
  handler: Handler,
  deps: ExchangeDeps,
): Promise<Outgoing> {
  const { request, response, envelope } = arrival;
  const exchange = toExchange(arrival, deps);
  const { intake } = exchange;
  const render = request.method === 'HEAD' ? toHeadOnly : toOutgoing;
  try {
    const answer = await handler(exchange);
    const reply = isLongReply(answer) ? await inBytes(answer) : answer;
    // A stream may still need the body; others release it earlier.
    if ('type' in reply && reply.type === 'stream') onceClosed(response, () => intake.release());
    else intake.release();
    return render(reply, exchange);
  } catch (thrown) {
    intake.release();
    const error = toGatewayError(fromStore(thrown));
    if (error.code === 'internal_error') deps.onBug(error.cause ?? error, exchange.id);
    deps.onRefused?.(exchange, error);
    const body = errorBody(error, envelope, exchange.id);
    return render({ status: error.status, headers: errorHeaders(error), body }, exchange);
  }
}

/** True for an object that takes long to be written. */
function isLongReply(reply: Reply | CallResult): reply is Reply {
  const isObject = !('type' in reply) && reply.body !== undefined && !Buffer.isBuffer(reply.body);
  return isObject && isLong(reply.body);
}

async function inBytes({ body, headers, ...reply }: Reply): Promise<Reply> {
  const bytes = await inTurns(writeSteps(body));
  return { ...reply, headers: { 'content-type': 'application/json', ...headers }, body: bytes };
}

/** Codes of failures of the store that remain however often it is asked. */
const NEVER: ReadonlySet<StoreErrorCode> = new Set<StoreErrorCode>([
  'invalid_key',
  'invalid_value',
  'invalid_commit',
]);

/** A store that cannot be reached is no bug of ours and may be back in a moment. */
function fromStore(thrown: unknown): unknown {
  if (!(thrown instanceof StoreError) || NEVER.has(thrown.code)) return thrown;
  return new GatewayError('store_unavailable', { cause: thrown, headers: { 'retry-after': '1' } });
}

function toExchange({ request, response, startedAt }: Arrival, deps: ExchangeDeps): HttpExchange {
  const url = toOriginForm(request.url ?? '/');
  const query = url.indexOf('?');
  return {
    id: deps.ids.next('req'),
    at: deps.clock.now(),
    startedAt: startedAt ?? deps.clock.monotonic(),
    request,
    response,
    intake: new BodyIntake({ request, response }, deps.bodies),
    path: query < 0 ? url : url.slice(0, query),
    search: query < 0 ? '' : url.slice(query),
  };
}

/** A target with scheme and host, as proxies get it, is the same path here (RFC 9112, 3.2.2). */
function toOriginForm(target: string): string {
  if (target.startsWith('/')) return target;
  const path = target.replace(/^https?:\/\/[^/?]*/i, '');
  return path === '' || path.startsWith('?') ? `/${path}` : path;
}

function toOutgoing(
  reply: Reply | CallResult,
  { id, intake }: Pick<HttpExchange, 'id' | 'intake'>,
): Outgoing {
  // V8 of Node.js 20 gives each object that is spread and then extended a hidden class, at ten times the cost.
  const headers: Record<string, string> = Object.assign({}, reply.headers);
  headers['x-request-id'] = id;
  headers['request-id'] = id;
  // The client may send the body after all, or the next request in its place (RFC 9110, 10.1.1).
  if (intake.isAwaited) headers['connection'] = 'close';
  const { status, body } = reply;
  if (('type' in reply && reply.type === 'stream') || body === undefined || Buffer.isBuffer(body))
    return { status, headers, body: body as Outgoing['body'] };
  headers['content-type'] ??= 'application/json';
  return { status, headers, body: stringifyWithRaw(body) };
}

/** The head of an answer without its body, which is released where it was opened. */
function toHeadOnly(
  reply: Reply | CallResult,
  exchange: Pick<HttpExchange, 'id' | 'intake'>,
): Outgoing {
  const { status, headers, body } = reply;
  if (body === undefined) return toOutgoing(reply, exchange);
  if ('destroy' in body) {
    body.destroy();
    return toOutgoing({ status, headers: { ...headers } }, exchange);
  }
  const isRaw = Buffer.isBuffer(body);
  const told: Record<string, string> = { ...headers };
  if (!isRaw) told['content-type'] ??= 'application/json';
  const { length } = isRaw ? body : Buffer.from(stringifyWithRaw(body));
  told['content-length'] = String(length);
  return toOutgoing({ status, headers: told }, exchange);
}

/** Calls `listener` once when the response is over, at once for one that is; that one emits no further event. */
export function onceClosed(response: ServerResponse, listener: () => void): void {
  if (response.closed) listener();
  else response.once('close', listener);
}

/** Watches the socket of a response for a client that leaves early. */
export function watchClient(response: ServerResponse): ClientConnection {
  const listeners = new Set<() => void>();
  const connection = {
    gone: response.destroyed,
    onGone(listener: () => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  response.once('close', () => {
    if (response.writableFinished) return;
    connection.gone = true;
    for (const listener of listeners) listener();
    listeners.clear();
  });
  return connection;
}
