import type { CommandRun } from '../command.ts';
import { oneLine } from '../../core/printable.ts';
import { renderTable } from '../table.ts';

export const run: CommandRun = async ({ flags, context }) => {
  const client = await context.connect();
  const rows = await client.models.list(
    // The empty type asks for every type; without it the catalog lists language models alone.
    { type: flags.text('type') ?? '', vendor: flags.text('vendor'), q: flags.text('search') },
    context.signal,
  );
  return {
    data: rows,
    text: (style) =>
      context.output.quiet
        ? rows.map(({ id }) => oneLine(id)).join('\n')
        : renderTable(
            rows,
            [
              { title: 'MODEL', value: ({ id }) => id },
              { title: 'VENDOR', value: ({ owned_by }) => owned_by },
              {
                title: 'SINCE',
                value: ({ created }) => new Date(created * 1000).toISOString().slice(0, 10),
              },
            ],
            { style, empty: 'no models' },
          ),
  };
};
