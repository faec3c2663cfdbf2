import type { ApiAuth } from '../routing/api.ts';
import type { Api } from '../routing/catalog.ts';

/**
 * Headers about the end of a message and the connection (RFC 9110, 7.6.1), the transport's
 * business.
 */
const HOP_BY_HOP = [
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'max-forwards',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

/** Headers that may carry a client's key for the gateway, and those between it and us. */
const CREDENTIALS = [
  'api-key',
  'authorization',
  'cookie',
  'cookie2',
  'proxy-authenticate',
  'proxy-authorization',
  'x-api-key',
  'x-gateway-upstream-authorization',
  'x-goog-api-key',
  'x-native-api-key',
];

/** Other ways to say who the client is and how it came here, or which method and path are meant. */
const DETOURS = [
  'client-ip',
  'forwarded',
  'origin',
  'referer',
  'true-client-ip',
  'via',
  'x-client-ip',
  'x-cluster-client-ip',
  'x-host',
  'x-http-method',
  'x-http-method-override',
  'x-method-override',
  'x-real-ip',
  'x-remote-addr',
  'x-remote-ip',
  'x-remote-user',
];

const DETOUR_FAMILIES = /^(x-(forwarded|original|rewrite|envoy|amzn)|cf|fly|fastly|sec)-/;

/** Headers that belong to a signature of ours, which the client's must not contradict. */
const SIGNED = ['content-digest', 'signature', 'signature-input'];

const NOT_FORWARDED: ReadonlySet<string> = new Set([...HOP_BY_HOP, ...CREDENTIALS, ...DETOURS]);

/**
 * The headers of a call to an API, as a flat name, value list: the client's own without those that
 * are about this connection, about the client, or its credentials; then the operator's, which take
 * the place of the client's; then the credential, once (requirement
 * auth.upstream.client-credential-not-forwarded). A signature is not among them.
 *
 * @param headers of the client, names in lower case
 */
export function toApiHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  api: Api,
): string[] {
  const own = { ...api.headers, ...credentialOf(api.auth, api.secret) };
  const dropped = new Set([...listOf(headers['connection']), ...Object.keys(own)].map(readAs));
  if (api.auth.type === 'signature') for (const name of SIGNED) dropped.add(name);
  // An answer that is read for its price must be readable.
  if (api.usage.length > 0) dropped.add('accept-encoding');
  const sent: string[] = [];
  for (const [name, value] of Object.entries(headers)) {
    const read = readAs(name);
    if (value === undefined || dropped.has(read)) continue;
    if (NOT_FORWARDED.has(read) || DETOUR_FAMILIES.test(read)) continue;
    sent.push(name, Array.isArray(value) ? value.join(', ') : value);
  }
  for (const [name, value] of Object.entries(own)) sent.push(name, value);
  return sent;
}

/** The name for servers that only know letters and digits, as CGI does: `x_api_key` is `x-api-key`. */
function readAs(name: string): string {
  return name.replace(/[^a-z\d]/g, '-');
}

function credentialOf(auth: ApiAuth, secret: string | undefined): Record<string, string> {
  if (secret === undefined) return {};
  if (auth.type === 'bearer') return { authorization: `Bearer ${secret}` };
  if (auth.type !== 'header') return {};
  return { [auth.name.toLowerCase()]: `${auth.prefix ?? ''}${secret}` };
}

/** The names that a connection header takes along. */
function listOf(value: string | string[] | undefined): Set<string> {
  const text = Array.isArray(value) ? value.join(',') : (value ?? '');
  return new Set(text.split(',').map((name) => name.trim().toLowerCase()));
}
