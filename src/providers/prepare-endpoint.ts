import { GatewayError } from '../core/errors.ts';
import type { Protocol } from '../protocols/registry.ts';
import type { PreparedEndpoint, ProviderAccount } from './account.ts';
import type { ProtocolEndpoint, ProviderAuth } from './define-provider.ts';
import { ENDPOINT_RULES } from './endpoint-rules.ts';

/** Decided per request, whatever the account says. */
const PER_REQUEST: ReadonlySet<string> = new Set([
  'content-type',
  'accept',
  'accept-encoding',
  ...Object.values(ENDPOINT_RULES).flatMap(({ headers }) => headers?.names ?? []),
]);

/**
 * Joins base URL, path, headers and credential of one protocol of an account. The credential goes in
 * exactly once: a header of the account with the same name gives way. Throws `unsupported_feature`
 * when the account does not speak the protocol, or has only credentials of clients.
 */
export function prepareEndpoint(account: ProviderAccount, protocol: Protocol): PreparedEndpoint {
  const endpoint = account.protocols[protocol];
  if (!endpoint) {
    throw new GatewayError('unsupported_feature', {
      message: `provider ${account.name} does not speak ${protocol}`,
    });
  }
  const { address, search, headers } = prepareAddress(account, endpoint);
  const own = ENDPOINT_RULES[protocol].headers?.toHeaders(account, {}) ?? [];
  const common = [...headers, 'content-type', 'application/json', ...own];
  return {
    address,
    search,
    url: address.includes('{') ? undefined : new URL(address + search),
    headers,
    jsonHeaders: [...common, 'accept', 'application/json'],
    streamHeaders: [...common, 'accept', 'text/event-stream'],
  };
}

/** A path below the base URL of an account, with its own headers and its credential. */
export function prepareAddress(
  account: ProviderAccount,
  { path, auth: own }: ProtocolEndpoint,
): Pick<PreparedEndpoint, 'address' | 'search' | 'headers'> {
  const { auth: usual } = account;
  if (usual.type === 'client') {
    const message = `provider ${account.name} takes the credential of a client, and this call has none for it`;
    throw new GatewayError('unsupported_feature', { message });
  }
  const auth = own ?? usual;
  const base = new URL(account.baseUrl);
  if (auth.type === 'query' && account.credential !== undefined) {
    base.searchParams.set(auth.name, account.credential);
  }
  return {
    address: `${base.protocol}//${base.host}${base.pathname.replace(/\/$/, '')}${path}`,
    search: base.search,
    headers: accountHeaders(account, auth),
  };
}

function accountHeaders(account: ProviderAccount, auth: ProviderAuth): string[] {
  const credential = credentialHeader(auth, account.credential);
  const own = { ...account.definition.headers, ...account.headers };
  const kept = Object.entries(own).filter(
    ([name]) => !PER_REQUEST.has(name) && name !== credential?.[0],
  );
  return [...kept.flat(), ...(credential ?? [])];
}

function credentialHeader(
  auth: ProviderAuth,
  credential: string | undefined,
): [name: string, value: string] | undefined {
  if (credential === undefined) return undefined;
  if (auth.type === 'bearer') return ['authorization', `Bearer ${credential}`];
  if (auth.type !== 'header') return undefined;
  return [auth.name.toLowerCase(), (auth.prefix ?? '') + credential];
}
