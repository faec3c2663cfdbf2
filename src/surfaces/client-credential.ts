import { GatewayError } from '../core/errors.ts';
import type { Family } from '../protocols/family.ts';
import type { ClientCredential } from '../providers/lend-credential.ts';
import { readKey } from './carriers.ts';
import type { GateDeps, KeyLookup } from './gate.ts';
import type { HttpExchange } from './http-exchange.ts';

/** Header of a credential for the provider, on every path of inference. */
const HEADER = 'x-gateway-upstream-authorization';
/** Visible characters; two values of one header have a blank between them. */
const CREDENTIAL = /^(bearer +)?([\x21-\x7e]+)$/i;
/** Between the parts of a value that may be keys: all but the characters of a token (RFC 6750, 2.1). */
const SEPARATOR = /[^\w.~+/=-]+/;
/** Each part is looked up. */
const MAX_PARTS = 8;

/**
 * The client's own credential at a provider. A key of the gateway, of any organization and in any state, never
 * leaves it.
 *
 * @throws GatewayError `missing_client_credential`, `client_credential_refused`, and `persistence_failed` where
 * the keys cannot be looked up
 */
export async function readClientCredential(
  { family, provider }: { family: Family; provider: string },
  { request: { headers }, search }: Pick<HttpExchange, 'request' | 'search'>,
  { lookup }: Pick<GateDeps, 'lookup'>,
): Promise<ClientCredential> {
  const { carriers } = family;
  const before = carriers.slice(0, carriers.indexOf('bearer'));
  const isFree = family.lendsBearer === true && readKey(before, headers, search) !== undefined;
  const sent = String(headers[HEADER] ?? '').trim();
  const text = sent === '' && isFree ? (headers.authorization ?? '').trim() : sent;
  if (text === '' || /^bearer$/i.test(text)) throw missing(provider, family);
  const [, scheme, value] = CREDENTIAL.exec(text) ?? [];
  const parts = new Set(value?.split(SEPARATOR)).add(value ?? '');
  if (value === undefined || parts.size > MAX_PARTS)
    throw refused(`must be \`Bearer TOKEN\` or a key`);
  const key = readKey(carriers, headers, search);
  if ((key !== undefined && value.includes(key)) || (await holdsKey(parts, lookup)))
    throw refused(`is a key of this gateway, which never leaves it; send yours in ${HEADER}`);
  return { form: scheme === undefined ? 'key' : 'token', value };
}

/** True also for a key in quotes, after a scheme of its own, or joined with another value. */
async function holdsKey(parts: Iterable<string>, lookup: KeyLookup): Promise<boolean> {
  try {
    for (const part of parts) if (part !== '' && (await lookup(part)) !== 'unknown') return true;
    return false;
  } catch (cause) {
    throw new GatewayError('persistence_failed', { cause });
  }
}

function missing(provider: string, { lendsBearer }: Family): GatewayError {
  const other = lendsBearer ? ', or in Authorization with the key of the gateway in x-api-key' : '';
  const message = `provider ${provider} takes your own credential: send it in ${HEADER}, as \`Bearer TOKEN\` or as a key${other}`;
  return new GatewayError('missing_client_credential', { message, retry: false });
}

function refused(cause: string): GatewayError {
  const message = `the credential for the provider ${cause}`;
  return new GatewayError('client_credential_refused', { message, retry: false });
}
