import { PROVIDERS } from '../../src/providers/registry.ts';
import { table } from './table.ts';

/** The table of docs/providers.md, from the definitions that the gateway uses. */
export function providersTable(): string {
  const rows = [...PROVIDERS.values()].map((definition) => {
    const { id, displayName, baseUrl, auth, keyOptional, protocols, envKeys = [] } = definition;
    const key = auth.type === 'none' ? 'none' : keyOptional ? 'optional' : 'required';
    return [
      `\`${id}\``,
      displayName,
      baseUrl === undefined ? 'give `base_url`' : `\`${baseUrl}\``,
      Object.keys(protocols).join(', '),
      key,
      envKeys.map((name) => `\`${name}\``).join(', '),
    ];
  });
  return table([['Type', 'Vendor', 'Address', 'Speaks', 'Key', 'Usual variables'], ...rows]);
}
