import { GatewayError } from '../core/errors.ts';
import { PROTOCOL_IDS, PROTOCOLS } from '../protocols/registry.ts';
import type { Protocol } from '../protocols/registry.ts';
import type { ProviderAccount } from './account.ts';
import type { ProviderAuth } from './define-provider.ts';

/** A client's own credential at a provider, as it came: after `Bearer`, or as a key. */
export interface ClientCredential {
  readonly form: 'token' | 'key';
  readonly value: string;
}

/**
 * The account with a client's credential, for one call. A token goes into `Authorization` whatever the type, a
 * key where the type has its keys.
 */
export function lendCredential(
  account: ProviderAccount,
  { form, value: credential }: ClientCredential,
): ProviderAccount {
  const lent = { ...account, credential, isLent: true } as const;
  if (form === 'token') return { ...lent, auth: BEARER, protocols: withoutAuth(account) };
  return { ...lent, auth: keyForm(account.definition.auth) };
}

const BEARER = { type: 'bearer' } as const;

function keyForm(auth: ProviderAuth): ProviderAuth {
  return auth.type === 'none' ? BEARER : auth;
}

/** The protocols of a provider or account, each with the form of credential of the whole. */
export function withoutAuth({
  protocols,
}: Pick<ProviderAccount, 'protocols'>): ProviderAccount['protocols'] {
  const entries = Object.entries(protocols).map(([protocol, { path }]) => [protocol, { path }]);
  return Object.fromEntries(entries);
}

/** The protocols whose calls are over with their answer, and so with the credential. */
export function withoutWork(protocols: ProviderAccount['protocols']): ProviderAccount['protocols'] {
  const entries = PROTOCOL_IDS.filter((id) => PROTOCOLS[id].leavesWork !== true && protocols[id]);
  return Object.fromEntries(entries.map((id) => [id, protocols[id]]));
}

/**
 * Checks settings that contradict `auth: client`.
 *
 * @throws GatewayError `invalid_request` with the setting in `param`
 */
export function checkLent(
  settings: { protocols?: Partial<Record<Protocol, unknown>> | null | undefined; assets?: unknown },
  { definition, credential, headers, protocols }: ProviderAccount,
): void {
  if (credential !== undefined)
    throw refusal('api_key', 'each client sends its own with auth: client; leave api_key out');
  const work = PROTOCOL_IDS.find(
    (id) => PROTOCOLS[id].leavesWork && settings.protocols?.[id] !== undefined,
  );
  if (work) {
    const message = `the gateway asks about ${work} later and keeps no credential of a client; leave ${work} out`;
    throw refusal(`protocols.${work}`, message);
  }
  if (settings.assets) {
    const message = 'media are registered without a client and its credential; leave assets out';
    throw refusal('assets', message);
  }
  const forms = [definition.auth, ...Object.values(protocols).map(({ auth }) => auth)];
  const names = forms.map((auth) => (auth?.type === 'header' ? auth.name.toLowerCase() : ''));
  const taken = ['authorization', ...names].find((name) => headers[name] !== undefined);
  if (taken === undefined) return;
  const message = `${taken} carries the credential of each client with auth: client; leave it out`;
  throw refusal(`headers.${taken}`, message);
}

function refusal(param: string, message: string): GatewayError {
  return new GatewayError('invalid_request', { param, message });
}
