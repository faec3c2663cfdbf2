import { PROVIDERS } from '../../src/providers/registry.ts';

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

/** Padded as the formatter of the repository does it. */
function table(rows: readonly (readonly string[])[]): string {
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  const [head = [], ...body] = rows;
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(width(column))).join(' | ')} |`;
  const rule = head.map((_, column) => '-'.repeat(width(column)));
  return [line(head), line(rule), ...body.map(line)].join('\n');
}
