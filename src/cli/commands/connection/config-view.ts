import type { FlagSpec } from '../../command.ts';
import { LOCAL, maskKey, readContexts } from '../../connection/contexts.ts';
import { GLOBAL_FLAGS, type GlobalFlags } from '../../grammar/global-flags.ts';
import { settingsFiles } from '../../grammar/settings.ts';
import { renderTable } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

interface Row {
  name: string;
  value: unknown;
  origin: string;
}

/** Settings shown by their outcome: the server and the key in use. */
const FOUND = new Set(['server', 'context', 'api-key-file']);

export const run: RunOf<'config view'> = async ({ flags, context }) => {
  const { globals, io } = context;
  const found = await context.connection({ keyRequired: false });
  const { current } = await readContexts(io.env);
  const rows: Row[] = [
    { name: 'server', value: found.server, origin: found.serverOrigin },
    {
      name: 'context',
      value: found.context ?? (globals.values.context === LOCAL ? LOCAL : null),
      origin: globals.origin('context')?.text ?? (current === null ? 'default' : 'use-context'),
    },
    {
      name: 'api_key',
      value: found.apiKey === undefined ? null : maskKey(found.apiKey),
      origin: found.keyOrigin,
    },
    ...GLOBAL_FLAGS.filter(({ name }) => !FOUND.has(name)).map(({ name, type }): Row => ({
      name: name.replaceAll('-', '_'),
      value: valueOf(name, type, globals),
      origin: globals.origin(name)?.text ?? 'default',
    })),
  ];
  const isShown = flags['show-origin'];
  const settings = rows.map(({ origin, ...row }) => (isShown ? { ...row, origin } : row));
  return {
    data: { settings, files: settingsFiles(io).map(({ path }) => path) },
    text: (style) =>
      renderTable(
        rows,
        [
          { title: 'SETTING', value: ({ name }) => name },
          { title: 'VALUE', value: ({ value }) => value, weight: 2 },
          ...(isShown ? [{ title: 'ORIGIN', value: ({ origin }: Row) => origin }] : []),
        ],
        { style, empty: '' },
      ),
  };
};

function valueOf(
  name: keyof GlobalFlags['values'],
  type: FlagSpec['type'],
  globals: GlobalFlags,
): unknown {
  if (type === 'boolean') return globals.values[name];
  if (type === 'duration') return `${Number(globals.values[name] ?? 0) / 1000}s`;
  return globals.values[name] ?? null;
}
