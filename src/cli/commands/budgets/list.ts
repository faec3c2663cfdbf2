import type { BudgetSpendingView } from '../../../client/usage.ts';
import { renderTable, type Column } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'budgets list'> = async ({ flags, context }) => {
  const client = await context.connect();
  const { signal } = context;
  const data = flags.own
    ? await client.account.budgets(signal)
    : await client.usage.budgets(signal);
  const columns = flags.own ? COLUMNS.filter((one) => one !== OWNER) : COLUMNS;
  return {
    data,
    text: async (style) => renderTable(data, columns, { style, empty: 'no budgets' }),
  };
};

const OWNER: Column<BudgetSpendingView> = {
  title: 'ORGANIZATION',
  value: ({ organization, organization_name: name }) => name ?? organization ?? '-',
};

const COLUMNS: readonly Column<BudgetSpendingView>[] = [
  { title: 'NAME', value: ({ name }) => name },
  OWNER,
  { title: 'PER', value: ({ per }) => per },
  { title: 'AMOUNT USD', value: ({ amount }) => amount },
  { title: 'SPENT', value: ({ spent }) => spent },
  { title: 'RESERVED', value: ({ reserved }) => reserved },
  { title: 'LEFT', value: ({ left }) => left },
  { title: 'RESETS AT', value: ({ resets_at: at }) => at ?? 'never' },
  { title: 'ENABLED', value: ({ enabled }) => String(enabled) },
  { title: 'ID', value: ({ id }) => id },
];
