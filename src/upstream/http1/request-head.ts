import { OFFERED_CODINGS } from '../decoder.ts';
import type { UpstreamRequest } from '../transport.ts';

/** RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const UNFIT_IN_VALUE = /[^\t\x20-\x7e\x80-\xff]/;
const UNFIT_IN_TARGET = /[^\x21-\x7e]/;

/** Those say where a message ends and what becomes of the connection: the transport's business. */
const RESERVED: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Methods whose missing body is announced as an empty one (RFC 9110, 8.6). */
const EXPECTS_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH']);

/**
 * The head of a request up to and with its empty line, to be written as latin1. Throws `TypeError`
 * for a name, value or target that cannot be sent or would be read as something else (CR, LF, NUL,
 * other controls, characters beyond latin1), and for headers that are the transport's own.
 */
export function createRequestHead(request: UpstreamRequest, host: string): string {
  const { url, method, headers, body } = request;
  const target = url.pathname + url.search;
  if (UNFIT_IN_TARGET.test(target)) throw new TypeError('the target cannot be sent');
  if (!TOKEN.test(method)) throw new TypeError('the method cannot be sent');
  let head = `${method} ${target} HTTP/1.1\r\nhost: ${host}\r\n${CONNECTION[method] ?? KEEP}`;
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] ?? '';
    const value = headers[index + 1] ?? '';
    if (!TOKEN.test(name) || RESERVED.has(name.toLowerCase())) {
      throw new TypeError('a header cannot be sent: its name');
    }
    if (UNFIT_IN_VALUE.test(value)) throw new TypeError(`header ${name} cannot be sent: its value`);
    head += `${name}: ${value}\r\n`;
  }
  // A server may use any coding where the header is missing.
  if (codingsAsked(headers) === undefined)
    head += `accept-encoding: ${offeredCodings(request)}\r\n`;
  const length = body?.length ?? 0;
  if (length > 0 || EXPECTS_BODY.has(method)) head += `content-length: ${length}\r\n`;
  return `${head}\r\n`;
}

/** The value of `accept-encoding` that a request is sent with; by default what its answer is read from. */
export function offeredCodings({ headers, raw }: Pick<UpstreamRequest, 'headers' | 'raw'>): string {
  return codingsAsked(headers) ?? (raw ? 'identity' : OFFERED_CODINGS);
}

function codingsAsked(headers: readonly string[]): string | undefined {
  for (let index = 0; index < headers.length; index += 2)
    if (headers[index] === 'accept-encoding') return headers[index + 1];
  return undefined;
}

const KEEP = 'connection: keep-alive\r\n';

/** Some servers send a body after all: nothing may come after it on the same connection. */
const CONNECTION: Readonly<Record<string, string>> = { HEAD: 'connection: close\r\n' };
