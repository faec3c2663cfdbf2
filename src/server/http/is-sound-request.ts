import type { IncomingMessage } from 'node:http';

/** Matches a host of RFC 3986, 3.2 without user information. */
const HOST_VALUE = /^[\w.~!$&'()*+,;=:%[\]-]*$/;
/** Nothing that a proxy puts before the path, a scheme and a host, or what `OPTIONS` may ask about. */
const TARGET = /^(?:\/|https?:\/\/([^/?]*)|\*$)/i;
const STEP = /^(?:\.|%2e){1,2}$/i;

/**
 * False for a head that a server between client and gateway may have read as another request (RFC
 * 9112, 3.2 and 6.1): an unknown version, no host or several, several credentials, a transfer coding
 * that Node.js leaves on the body, a target with a fragment, backslashes or `..` segments.
 */
export function isSoundRequest(request: IncomingMessage): boolean {
  const { httpVersion, headers, rawHeaders, url = '' } = request;
  const isOld = httpVersion === '1.0';
  if (!isOld && httpVersion !== '1.1') return false;
  const hosts = countOf('host', rawHeaders);
  if (hosts > 1 || (hosts === 0 && !isOld) || !HOST_VALUE.test(headers.host ?? '')) return false;
  if (countOf('authorization', rawHeaders) > 1) return false;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && (isOld || coding.toLowerCase() !== 'chunked')) return false;
  const target = TARGET.exec(url);
  if (!target || url.includes('#') || hasDetour(url)) return false;
  const [, host = headers.host] = target;
  return host?.toLowerCase() === headers.host?.toLowerCase();
}

/** Node.js keeps the first of several; another server may read the last. */
function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const other = rawHeaders[index] as string;
    if (other.length === name.length && other.toLowerCase() === name) count += 1;
  }
  return count;
}

/** True for a path that some servers take as it is and others resolve, or read `\\` in as `/`. */
function hasDetour(target: string): boolean {
  if (!target.includes('/.') && !target.includes('/%2') && !target.includes('\\')) return false;
  const query = target.indexOf('?');
  const path = query < 0 ? target : target.slice(0, query);
  return path.includes('\\') || path.split('/').some((segment) => STEP.test(segment));
}
