import { GatewayError } from '../../core/errors.ts';
import type { ClientHeaders, HeaderSettings } from '../define-protocol.ts';

/** Version for a request that names none (contract: Versioning). */
const DEFAULT_VERSION = '2023-06-01';

const NAMES = {
  native: { version: 'native-version', beta: 'native-beta' },
  vendor: { version: 'anthropic-version', beta: 'anthropic-beta' },
} as const;

/** Beginning of the vendor's own request headers. */
export const VENDOR_PREFIX = 'anthropic-';

/** Spellings of the two headers. */
export const MESSAGES_HEADERS: readonly string[] = [
  NAMES.native.version,
  NAMES.vendor.version,
  NAMES.native.beta,
  NAMES.vendor.beta,
];

/**
 * Version and beta headers of a Messages request, in the account's spelling. Of the client's two
 * spellings the neutral version wins, the beta lists are joined. The account's own version stands in
 * for a missing one; its betas come first. Betas that the provider must not see are left out. An account in the
 * vendor's spelling gets every further header of the vendor as it came, for clients bring new ones; those
 * that the account has itself win.
 *
 * @throws GatewayError `unsupported_feature` with `param` for a beta of the client that the provider
 *   cannot serve and that is not left out
 */
export function messagesHeaders(
  { headers, headerSpelling, dropBetas, refuseBetas }: HeaderSettings,
  client: ClientHeaders,
): string[] {
  const names = NAMES[headerSpelling];
  const version = versionOf(client) ?? versionOf(headers) ?? DEFAULT_VERSION;
  const isKept = (beta: string): boolean => !isListed(dropBetas, beta);
  const asked = betasOf(client).filter(isKept);
  const refused = asked.find((beta) => isListed(refuseBetas, beta));
  if (refused !== undefined) throw unsupported(refused);
  const betas = new Set([...betasOf(headers).filter(isKept), ...asked]);
  const result: string[] = [names.version, version];
  if (betas.size > 0) result.push(names.beta, [...betas].join(','));
  if (headerSpelling === 'vendor') pushOthers(result, client, headers);
  return result;
}

function pushOthers(result: string[], client: ClientHeaders, own: HeaderSettings['headers']): void {
  for (const [name, value] of Object.entries(client)) {
    const isOther = name.startsWith(VENDOR_PREFIX) && !MESSAGES_HEADERS.includes(name);
    if (isOther && value !== undefined && !Object.hasOwn(own, name))
      result.push(name, String(value));
  }
}

function isListed(list: readonly string[], beta: string): boolean {
  return list.includes(beta) || list.includes('*');
}

function unsupported(beta: string): GatewayError {
  return new GatewayError('unsupported_feature', {
    message: `no route of this model supports the beta \`${beta.slice(0, 128)}\``,
    param: NAMES.native.beta,
  });
}

function versionOf(headers: ClientHeaders): string | undefined {
  const version = headers[NAMES.native.version] || headers[NAMES.vendor.version];
  return Array.isArray(version) ? version[0] : version || undefined;
}

function betasOf(headers: ClientHeaders): string[] {
  return [headers[NAMES.native.beta], headers[NAMES.vendor.beta]]
    .flat()
    .flatMap((list) => list?.split(',') ?? [])
    .map((beta) => beta.trim())
    .filter((beta) => beta !== '');
}
