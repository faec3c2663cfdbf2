import type { ListFilters } from '../../client/admin.ts';
import { collect } from '../../client/http/pages.ts';
import { factsOf, type Collection } from '../../core/kinds.ts';
import { oneLine } from '../../core/printable.ts';
import type { CommandResult } from '../command.ts';
import type { FlagInput } from '../command-input.ts';
import { renderTable } from '../output/table.ts';
import type { ARCHIVED } from '../tables/plain-commands.ts';
import type { ORGANIZATION } from '../tables/shared-words.ts';
import { columnsOf } from './columns.ts';

/** Input of `list`; of these flags the command of a kind has those that its facts call for. */
type ListInput = FlagInput<readonly [typeof ORGANIZATION, typeof ARCHIVED]>;

/** Command that shows every resource of a kind as a table; with --quiet the names alone. */
export function listCommand(kind: Collection): (input: ListInput) => Promise<CommandResult> {
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

function filtersOf(kind: Collection, flags: ListInput['flags']): ListFilters {
  const { isOwned, verbs } = factsOf(kind);
  return {
    ...(isOwned && { organization: flags.organization }),
    ...(verbs.includes('archive') && {
      include_archived: flags.archived ? 'true' : undefined,
    }),
  };
}
