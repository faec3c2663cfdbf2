import type { ProviderDefinition } from '../../providers/define-provider.ts';
import type { Variables } from './env-file.ts';

/** A vendor whose key is in the environment; names of variables, never their values. */
export interface FoundKey {
  readonly provider: string;
  readonly variable: string;
  /** Variable with the address that the key belongs to. Absent: the vendor's own. */
  readonly addressVariable?: string;
}

export interface VendorKeys {
  readonly found: readonly FoundKey[];
  /** Vendors whose address leads back to this gateway, so that their key is none of the vendor's. */
  readonly leftOut: readonly { readonly provider: string; readonly because: string }[];
}

/** Vendors that need only a key. */
function vendorsOf(definitions: Iterable<ProviderDefinition>): ProviderDefinition[] {
  return [...definitions].filter(
    ({ baseUrl, envKeys = [], keyOptional }) =>
      baseUrl !== undefined && envKeys.length > 0 && keyOptional !== true,
  );
}

/** Every variable that is looked for. */
export function vendorVariables(definitions: Iterable<ProviderDefinition>): string[] {
  return vendorsOf(definitions).flatMap(({ envKeys = [] }) => envKeys);
}

/**
 * The vendors for which one of their usual variables is set. Where the environment sets the address
 * of a vendor, too, its key goes to no other address.
 */
export function findVendorKeys(
  env: Variables,
  definitions: Iterable<ProviderDefinition>,
  ownPort?: number,
): VendorKeys {
  const found: FoundKey[] = [];
  const leftOut: { provider: string; because: string }[] = [];
  for (const { id: provider, envKeys = [], envUrl } of vendorsOf(definitions)) {
    const variable = envKeys.find((name) => isSet(env[name]));
    if (variable === undefined) continue;
    const address = envUrl === undefined ? undefined : env[envUrl];
    if (envUrl === undefined || !isSet(address)) found.push({ provider, variable });
    else if (isOwn(address, ownPort))
      leftOut.push({ provider, because: `${envUrl} is the address of this gateway` });
    else found.push({ provider, variable, addressVariable: envUrl });
  }
  return { found, leftOut };
}

/** Fills the vendor parts of a file: providers with all of their models, and aliases. */
export function withVendors(
  text: string,
  found: readonly FoundKey[],
  definitions: ReadonlyMap<string, ProviderDefinition>,
): string {
  const providers = found.map(({ provider, variable, addressVariable }) =>
    [
      `  - name: ${provider}`,
      `    type: ${provider}`,
      ...(addressVariable === undefined ? [] : [`    base_url: \${env:${addressVariable}}`]),
      `    api_key: \${secret:env:${variable}}`,
      '    models: all',
      '',
    ].join('\n'),
  );
  const aliases = found.flatMap(({ provider }) =>
    (definitions.get(provider)?.ownNames ?? []).map((name) => `  ${name}: ${provider}/${name}\n`),
  );
  const section =
    aliases.length === 0
      ? ''
      : `\n# Names as the vendors' own tools ask for them.\naliases:\n${aliases.join('')}`;
  return text
    .replace(/ {2}# <providers>\n/, () => providers.join(''))
    .replace(/\n?# <aliases>\n/, () => section);
}

function isSet(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}

function isOwn(address: string, ownPort: number | undefined): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname, port } = new URL(address);
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname) && Number(port) === ownPort;
}
