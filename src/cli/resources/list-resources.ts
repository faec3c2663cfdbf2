import type { ListFilters } from '../../client/admin.ts';
import { collect } from '../../client/http/pages.ts';
import { factsOf, type Collection } from '../../core/kinds.ts';
import { oneLine } from '../../core/printable.ts';
import type { CommandRun, Flags } from '../command.ts';
import { renderTable } from '../output/table.ts';
import { columnsOf } from './columns.ts';

/** Command that shows every resource of a kind as a table; with --quiet the names alone. */
export function listCommand(kind: Collection): CommandRun {
  return async ({ context, flags }) => {
    const client = await context.connect();
    const rows = await collect(client.admin(kind).list(filtersOf(kind, flags), context.signal));
    return {
      data: rows,
      text: (style) =>
        context.output.quiet
          ? rows.map(({ name }) => oneLine(name)).join('\n')
          : renderTable(rows, columnsOf(kind), { style, empty: `no ${kind}` }),
    };
  };
}

function filtersOf(kind: Collection, flags: Flags): ListFilters {
  const { isOwned, verbs } = factsOf(kind);
  return {
    ...(isOwned && { organization: flags.text('organization') }),
    ...(verbs.includes('archive') && {
      include_archived: flags.on('archived') ? 'true' : undefined,
    }),
  };
}
