import type { ListFilters } from '../../client/admin.ts';
import { collect } from '../../client/http/pages.ts';
import { factsOf, type Collection } from '../../core/kinds.ts';
import { oneLine } from '../../core/printable.ts';
import type { CommandResult } from '../command.ts';
import type { FlagInput } from '../command-input.ts';
import { addNamesToAll } from '../details/references.ts';
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
    const { signal, output } = context;
    const rows = await collect(client.admin(kind).list(filtersOf(kind, flags), signal));
    if (output.quiet) return { data: rows, text: rows.map(({ name }) => oneLine(name)).join('\n') };
    const named = await addNamesToAll(client, rows, signal);
    return {
      data: named,
      text: (style) => renderTable(named, columnsOf(kind), { style, empty: `no ${kind}` }),
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
