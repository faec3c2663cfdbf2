import { GatewayError } from '../../core/errors.ts';
import { cassetteSchema } from '../../providers/mock/tape/cassette.ts';
import { type DeclaredTls, UNREAD_KEY } from '../../providers/read-tls.ts';
import { PROVIDERS } from '../../providers/registry.ts';
import { type ProviderSettings, resolveAccount } from '../../providers/resolve-account.ts';
import { type EntryContext, entryValue } from './check-entries.ts';
import { type CheckOptions, checkTree } from './check-tree.ts';
import type { Diagnostic } from '../source/diagnostic.ts';
import { kindOf } from '../objects/kinds.ts';
import { formatPath } from '../source/locate.ts';

/**
 * Checks that each declared provider makes an account: a known type, an address, a key or none
 * needed; and what `mock` scripts, which is the mock provider's own language. A missing key is a
 * warning, because it may have been stored before.
 */
export function checkAccounts(tree: Record<string, unknown>, context: EntryContext): Diagnostic[] {
  const { providers } = tree;
  if (!Array.isArray(providers)) return [];
  return providers.flatMap((_provider, index) => {
    const options = { ...context, root: tree, at: ['providers', index] };
    const value = entryValue(kindOf('provider'), index, options);
    if (value === undefined) return [];
    const cassette =
      value['mock'] === null
        ? []
        : checkTree(cassetteSchema(), { ...options, at: [...options.at, 'mock'] }).diagnostics;
    return [...cassette, ...checkAccount(value, options)];
  });
}

function checkAccount(value: Record<string, unknown>, options: CheckOptions): Diagnostic[] {
  const { api_key: key, name, type, ...rest } = value;
  const declared = rest['tls'] as DeclaredTls | null;
  // Declarations name a private key; it is read where it is needed.
  const tls = declared && { ...declared, key: declared.key ? UNREAD_KEY : null };
  const settings = { ...rest, tls, id: '', name, provider_type: type } as ProviderSettings;
  try {
    resolveAccount(settings, key === undefined || key === null ? undefined : 'configured');
    return [];
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const field = error.param?.split('.') ?? [];
    const isKey = error.param === 'api_key' && (key ?? null) === null;
    const path = [...options.at, ...field];
    const [message = '', hint] = isKey
      ? [`a provider of type ${String(type)} needs api_key`, keyHint(String(type))]
      : error.message.split('; ', 2);
    return [
      {
        ...options.places.find(options.root, path),
        path: formatPath(path),
        severity: isKey ? 'warning' : 'error',
        message,
        ...(hint !== undefined && { hint }),
      },
    ];
  }
}

function keyHint(type: string): string {
  const variable = PROVIDERS.get(type)?.envKeys?.[0] ?? 'NAME';
  return `write api_key: \${secret:env:${variable}}`;
}
