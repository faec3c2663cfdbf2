import type { UpstreamHeaders } from './transport.ts';

/**
 * The upstream response headers that reach clients: what is needed to read the body, and nothing
 * that tells of the provider's account, limits, cookies or machines (requirement
 * routing.upstream-headers.allow-list). Lengths, encodings and request ids are our own.
 */
const ALLOWED = ['content-type', 'content-disposition', 'content-language'] as const;

/** The part of an upstream answer's head that may be sent on. */
export function clientHeaders(headers: UpstreamHeaders): Record<string, string> {
  const allowed: Record<string, string> = {};
  for (const name of ALLOWED) {
    const value = headers[name];
    if (value !== undefined) allowed[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return allowed;
}
