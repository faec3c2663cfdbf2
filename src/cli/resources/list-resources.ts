import type { ListFilters, ResourceView } from '../../client/admin.ts';
import { collect } from '../../client/http/pages.ts';
import { factsOf, type Collection } from '../../core/kinds.ts';
import { oneLine } from '../../core/printable.ts';
import type { CommandResult } from '../command.ts';
import type { FlagInput } from '../command-input.ts';
import type { Client } from '../../client/create-client.ts';
import { healthText } from '../details/provider-health.ts';
import { addNamesToAll, isReference, nameMember } from '../details/references.ts';
import { renderTable } from '../output/table.ts';
import type { FlagValues } from '../grammar/flags.ts';
import type { ARCHIVED } from '../tables/plain-commands.ts';
import type { ORGANIZATION } from '../tables/shared-words.ts';
import { isRecord } from '../../client/http/guards.ts';
import { spendingText } from '../input/spending-limit.ts';
import type { Column } from '../output/table.ts';

/** Forms for people of members that tables do not show as they are. */
const FORMS: Readonly<Record<string, (value: unknown) => unknown>> = {
  spending_limit: spendingText,
  model: (model) => (isRecord(model) ? model['id'] : model),
  harness: (harness) => (isRecord(harness) ? harness['name'] : harness),
  protocols: (names) => (Array.isArray(names) ? names.join(', ') : names),
  health: healthText,
  scopes: (scopes) => scopes ?? 'all but admin',
  allowed_models: (patterns) => patterns ?? 'all',
};

/** Columns of the table that `list` shows. */
function columnsOf(kind: Collection): Column<ResourceView>[] {
  const { columns, wide = {}, switch: onOff } = factsOf(kind);
  const shown = columns ?? {
    NAME: 'name',
    ...(onOff && { [onOff.toUpperCase()]: onOff }),
    ID: 'id',
  };
  return Object.entries({ ...shown, ...wide }).map(([title, member]) => {
    const weight = Object.hasOwn(wide, title) ? 0 : 1;
    if (isReference(member))
      return { title, weight, value: (row) => row[nameMember(member)] ?? row[member] };
    const toShown = FORMS[member] ?? ((value) => value);
    return { title, weight, value: (row) => toShown(row[member]) };
  });
}

/** Adds members to the rows of a list. */
type AddMembers = (
  client: Client,
  rows: ResourceView[],
  signal: AbortSignal,
) => Promise<ResourceView[]>;

/** Input of `list`; of these flags the command of a kind has those that its facts call for. */
export type ListInput = Omit<FlagInput<readonly [typeof ORGANIZATION]>, 'flags'> & {
  readonly flags: Partial<FlagValues<readonly [typeof ORGANIZATION, typeof ARCHIVED]>>;
};

/** Command that shows every resource of a kind as a table; with --quiet only the names. */
export function listCommand(
  kind: Collection,
  addMembers: AddMembers = async (_client, rows) => rows,
): (input: ListInput) => Promise<CommandResult> {
  return async ({ context, flags }) => {
    const client = await context.connect();
    const { signal, output } = context;
    const all = await collect(client.admin(kind).list(filtersOf(kind, flags), signal));
    const rows = await addMembers(client, all, signal);
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
