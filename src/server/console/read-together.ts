import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { GatewayError } from '../../core/errors.ts';
import { answerExchange } from '../../surfaces/http-exchange.ts';
import type { Handler, HttpExchange, Outgoing } from '../../surfaces/http-exchange.ts';
import { shield } from '../http/routes.ts';
import type { RouteSpec, RoutesOptions } from '../http/routes.ts';

/** Path below the API of the console, and the parameter that names each read. */
export const TOGETHER = '/together';
const READ = 'read';
/** Most reads that a page may need at once. */
const MAX_READS = 16;

interface Place {
  readonly route: RouteSpec;
  /** Segments that may be anything. */
  readonly open: number;
  readonly pattern: RegExp;
  readonly handler: Handler;
}

/**
 * `GET /together?read=/v1/agents?limit=100&read=…`: the answers to several reads in one, in their order,
 * each with its status. Every read is a call of its own for rates and scopes; one that is refused leaves
 * the others as they are.
 *
 * @param isServed whether pages may read a path
 */
export function createReadTogether(
  options: RoutesOptions,
  isServed: (path: string) => boolean,
): Handler {
  const places = options.routes.flatMap((route): Place[] => {
    const { path, methods } = route;
    if (!methods.GET || path.includes('**')) return [];
    const open = path.split(':').length - 1;
    const handler = shield(route, methods.GET, options);
    return [{ route, open, pattern: toPattern(path), handler }];
  });
  // Literal paths come before those with open segments, as in the router.
  places.sort((a, b) => a.open - b.open);
  const answer = async (exchange: HttpExchange, target: string): Promise<Buffer> => {
    const [path = ''] = target.split('?');
    const place = isServed(path) ? places.find(({ pattern }) => pattern.test(path)) : undefined;
    const refuse: Handler = async () => {
      throw new GatewayError('not_found', { message: 'pages read no such path' });
    };
    const { handler, route } = place ?? { handler: refuse, route: { envelope: 'resource' } };
    const arrival = {
      request: asRead(exchange.request, target),
      response: exchange.response,
      envelope: route.envelope,
    } as const;
    return toPart(await answerExchange(arrival, handler, options));
  };
  return async (exchange) => {
    const reads = new URLSearchParams(exchange.search).getAll(READ);
    if (reads.length === 0 || reads.length > MAX_READS) {
      const message = `${READ}: expected 1 to ${MAX_READS} paths`;
      throw new GatewayError('invalid_request', { message, param: READ });
    }
    const parts = await Promise.all(reads.map((target) => answer(exchange, target)));
    const body = Buffer.concat([
      Buffer.from('{"data":['),
      ...parts.flatMap((part, index) => (index === 0 ? [part] : [COMMA, part])),
      Buffer.from(']}'),
    ]);
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  };
}

const COMMA = Buffer.from(',');

const toPattern = (path: string): RegExp => new RegExp(`^${path.replace(/:\w+/g, '[^/]+')}$`);

/** The request as if it had asked for something else; its client and its connection are the same. */
function asRead(request: IncomingMessage, url: string): IncomingMessage {
  const headers: IncomingHttpHeaders = { ...request.headers };
  return Object.create(request, {
    url: { value: url, writable: true },
    headers: { value: headers, writable: true },
  }) as IncomingMessage;
}

function toPart({ status, headers, body = 'null' }: Outgoing): Buffer {
  const isWhole = typeof body === 'string' || Buffer.isBuffer(body);
  if (!isWhole) body.destroy();
  if (!isWhole || !headers['content-type']?.startsWith('application/json')) {
    const message = `${READ}: what is not JSON, or a stream, is read by itself`;
    throw new GatewayError('invalid_request', { message, param: READ });
  }
  return Buffer.concat([
    Buffer.from(`{"status":${status},"body":`),
    Buffer.from(body),
    Buffer.from('}'),
  ]);
}
