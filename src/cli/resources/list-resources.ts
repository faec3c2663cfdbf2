import type { AdminKind } from '../../client/create-client.ts';
import { oneLine } from '../../core/printable.ts';
import type { ListFilters, ResourceView } from '../../client/admin.ts';
import { collect } from '../../client/http/pages.ts';
import type { CommandContext } from '../context.ts';
import type { CommandResult } from '../command.ts';
import { renderTable, type Column } from '../output/table.ts';

export interface Listing {
  context: CommandContext;
  kind: AdminKind;
  columns: readonly Column<ResourceView>[];
  filters?: ListFilters;
}

/** Every resource of a kind as a table; with --quiet the names alone. */
export async function listResources(listing: Listing): Promise<CommandResult> {
  const { context, kind, columns, filters } = listing;
  const client = await context.connect();
  const rows = await collect(client.admin(kind).list(filters, context.signal));
  return {
    data: rows,
    text: (style) =>
      context.output.quiet
        ? rows.map(({ name }) => oneLine(name)).join('\n')
        : renderTable(rows, columns, { style, empty: `no ${kind}` }),
  };
}
