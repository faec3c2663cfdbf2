import type { UpstreamHeaders } from '../transport.ts';
import { protocolError } from './to-upstream-error.ts';

const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/;
/** RFC 9110, 5.6.2; neither the space of a folded line nor one before the colon is part of it. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const LENGTH = /^\d{1,15}$/;
const KEEP_ALIVE_TIMEOUT = /(?:^|[,\s])timeout\s*=\s*(\d{1,9})/i;

const MAX_HEADERS = 256;
const SPACE = 0x20;
const TAB = 0x09;

/** Way to find the end of a body: after so many bytes, by its chunks, or with the connection. */
export type BodyLength = number | 'chunked' | 'until-close';

export interface ResponseHead {
  status: number;
  /** Names in lower case; values of a repeated name in an array. No prototype. */
  headers: Record<string, UpstreamHeaders[string]>;
  bodyLength: BodyLength;
  /** The connection may be used again after the body. */
  persistent: boolean;
  /** Time for which the server keeps an unused connection, when it says so. */
  keepAliveMs: number | undefined;
}

/**
 * Reads a head (RFC 9112, 4, 5 and 6.3), without its empty line. The caller has seen to it that
 * every line ends with CRLF and that there are no other controls than tabs.
 *
 * Stricter than the RFC where a lenient reading lets two parsers disagree about the end of a body:
 * `content-length` and `transfer-encoding` may come once and not together, and `chunked` is the only
 * transfer coding. Throws `UpstreamError` of kind `protocol`.
 */
export function parseResponseHead(text: string, method: string): ResponseHead {
  const lineEnd = text.indexOf('\r\n');
  const line = STATUS_LINE.exec(lineEnd < 0 ? text : text.slice(0, lineEnd));
  if (!line) throw protocolError('bad status line');
  const status = Number(line[2]);
  const headers = lineEnd < 0 ? noHeaders() : parseHeaders(text, lineEnd + 2);
  const framing = readFraming(headers);
  const isOld = line[1] === '0';
  // An HTTP/1.0 hop passes on unknown header fields (RFC 9112, 6.1).
  if (isOld && framing === 'chunked') throw protocolError('chunked in HTTP/1.0');
  const hasBody = method !== 'HEAD' && status >= 200 && status !== 204 && status !== 304;
  const bodyLength = hasBody ? (framing ?? 'until-close') : 0;
  const disagrees = status === 204 && framing !== undefined && framing !== 0;
  return {
    status,
    headers,
    bodyLength,
    persistent:
      bodyLength !== 'until-close' &&
      method !== 'HEAD' &&
      !disagrees &&
      isPersistent(headers['connection'], isOld),
    keepAliveMs: readKeepAlive(headers['keep-alive']),
  };
}

function noHeaders(): ResponseHead['headers'] {
  return Object.create(null) as ResponseHead['headers'];
}

function parseHeaders(text: string, from: number): ResponseHead['headers'] {
  const headers = noHeaders();
  let count = 0;
  for (let start = from; start < text.length;) {
    let end = text.indexOf('\r\n', start);
    if (end < 0) end = text.length;
    if (++count > MAX_HEADERS) throw protocolError('too many headers');
    const colon = text.indexOf(':', start);
    const name = text.slice(start, colon < 0 || colon > end ? end : colon);
    if (name.length === end - start || !TOKEN.test(name)) throw protocolError('bad header line');
    add(headers, name.toLowerCase(), trimmed(text, colon + 1, end));
    start = end + 2;
  }
  return headers;
}

function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isBlank(text.charCodeAt(start))) start += 1;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}

function add(headers: ResponseHead['headers'], name: string, value: string): void {
  const before = headers[name];
  if (before === undefined) headers[name] = value;
  else if (Array.isArray(before)) before.push(value);
  else headers[name] = [before, value];
}

function readFraming(headers: ResponseHead['headers']): number | 'chunked' | undefined {
  const length = headers['content-length'];
  const coding = headers['transfer-encoding'];
  if (coding !== undefined) {
    if (length !== undefined) throw protocolError('both length and transfer coding');
    if (typeof coding !== 'string' || coding.toLowerCase() !== 'chunked') {
      throw protocolError('unknown transfer coding');
    }
    return 'chunked';
  }
  if (length === undefined) return undefined;
  if (typeof length !== 'string') throw protocolError('several content lengths');
  if (!LENGTH.test(length)) throw protocolError('bad content length');
  return Number(length);
}

function isPersistent(connection: UpstreamHeaders[string], isOld: boolean): boolean {
  if (connection === undefined) return !isOld;
  const options = String(connection)
    .toLowerCase()
    .split(/[\s,]+/);
  return !options.includes('close') && (!isOld || options.includes('keep-alive'));
}

function readKeepAlive(value: UpstreamHeaders[string]): number | undefined {
  const seconds = value === undefined ? undefined : KEEP_ALIVE_TIMEOUT.exec(String(value))?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}
