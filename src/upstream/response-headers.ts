import type { UpstreamHeaders } from './transport.ts';

/**
 * The upstream response headers that reach clients: those needed to read the body, and none about the
 * provider's account, limits, cookies or machines (requirement routing.upstream-headers.allow-list). Lengths,
 * encodings and request ids are our own.
 */
const ALLOWED = ['content-type', 'content-disposition', 'content-language'] as const;

/**
 * Matches the field values that Node.js writes (RFC 9110, 5.5); any other throws instead of being
 * sent.
 */
const WRITABLE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

/** The part of an upstream answer's head that may be sent on. */
export function clientHeaders(headers: UpstreamHeaders): Record<string, string> {
  const allowed: Record<string, string> = {};
  for (const name of ALLOWED) {
    const value = headers[name];
    const line = Array.isArray(value) ? value.join(', ') : value;
    if (line !== undefined && WRITABLE.test(line)) allowed[name] = line;
  }
  return allowed;
}
