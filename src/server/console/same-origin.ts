import type { IncomingHttpHeaders } from 'node:http';

/** Evidence of the page that sent a request. */
export type Sender = 'same' | 'other' | 'unknown';

/**
 * Finds whether a page of the requested address sent a request, by `Sec-Fetch-Site` and
 * `Origin`, which scripts cannot set. Behind a proxy the address is that of `X-Forwarded-Host`, which no
 * page of another origin can send without being asked first.
 */
export function senderOf(headers: IncomingHttpHeaders): Sender {
  const { origin, host } = headers;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return 'other';
  if (origin === undefined) return site === 'same-origin' ? 'same' : 'unknown';
  const asked = [host, headers['x-forwarded-host']?.toString()];
  const authority = authorityOf(origin);
  return authority !== undefined && asked.includes(authority) ? 'same' : 'other';
}

/** Undefined for an origin of nothing, such as that of a sandboxed page. */
function authorityOf(origin: string): string | undefined {
  const [, authority] = /^https?:\/\/([^/]+)$/i.exec(origin) ?? [];
  return authority;
}

/** True where the page came by TLS, perhaps through a proxy that ends it. */
export function isByTls(headers: IncomingHttpHeaders): boolean {
  const proto = headers['x-forwarded-proto']?.toString();
  return headers.origin?.startsWith('https:') === true || proto === 'https';
}
