import { oneLine } from '../../../core/printable.ts';
import { maskKey, readContexts } from '../../connection/contexts.ts';
import { renderTable } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'config get-contexts'> = async ({ context }) => {
  const { current, list } = await readContexts(context.io.env);
  const rows = list
    .map(({ name, server, organization, keyName, apiKey }) => ({
      name,
      current: name === current,
      server,
      organization,
      key: apiKey && maskKey(apiKey),
      key_name: keyName,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return {
    data: rows,
    text: (style) =>
      context.output.quiet
        ? rows.map(({ name }) => oneLine(name)).join('\n')
        : renderTable(
            rows,
            [
              { title: '', value: (row) => (row.current ? '*' : ' ') },
              { title: 'NAME', value: ({ name }) => name },
              { title: 'SERVER', value: ({ server }) => server },
              { title: 'ORGANIZATION', value: ({ organization }) => organization },
              { title: 'KEY', value: ({ key, key_name }) => key && (key_name ?? key) },
            ],
            { style, empty: 'no contexts; `gateway login URL` makes one' },
          ),
  };
};
