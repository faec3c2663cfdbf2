import type { ProviderAccount } from './account.ts';

/** Request headers as `node:http` gives them. */
export type ClientHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** What a request without a version gets (contract: Versioning). */
const DEFAULT_VERSION = '2023-06-01';

const NAMES = {
  native: { version: 'native-version', beta: 'native-beta' },
  vendor: { version: 'anthropic-version', beta: 'anthropic-beta' },
} as const;

/** Both spellings of both headers. */
export const MESSAGES_HEADERS: readonly string[] = [
  NAMES.native.version,
  NAMES.vendor.version,
  NAMES.native.beta,
  NAMES.vendor.beta,
];

/**
 * Version and beta headers of a Messages request, in the account's spelling. Of the client's two
 * spellings the neutral version wins, the beta lists are joined. The account's own version stands in
 * for a missing one; its betas come first. Betas that the provider must not see are left out.
 */
export function messagesHeaders(
  { headers, headerSpelling, definition }: ProviderAccount,
  client: ClientHeaders,
): string[] {
  const names = NAMES[headerSpelling];
  const version = versionOf(client) ?? versionOf(headers) ?? DEFAULT_VERSION;
  const dropped = new Set(definition.dropBetas);
  const betas = new Set(
    [...betasOf(headers), ...betasOf(client)].filter(
      (beta) => !dropped.has('*') && !dropped.has(beta),
    ),
  );
  const result: string[] = [names.version, version];
  if (betas.size > 0) result.push(names.beta, [...betas].join(','));
  return result;
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
