import type { BudgetSpendingView } from '../../../client/usage.ts';
import { renderTable, type Column } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

export const run: RunOf<'budgets list'> = async ({ flags, context }) => {
  const client = await context.connect();
  const { signal } = context;
  const data = flags.own
    ? await client.account.budgets(signal)
    : await client.usage.budgets(signal);
  return {
    data,
    text: async (style) => renderTable(data, COLUMNS, { style, empty: 'no budgets' }),
  };
};

const COLUMNS: readonly Column<BudgetSpendingView>[] = [
  { title: 'NAME', value: ({ name }) => name },
  { title: 'PER', value: ({ per }) => per },
  { title: 'AMOUNT USD', value: ({ amount }) => amount },
  { title: 'SPENT', value: ({ spent }) => spent },
  { title: 'RESERVED', value: ({ reserved }) => reserved },
  { title: 'LEFT', value: ({ left }) => left },
  { title: 'RESETS AT', value: ({ resets_at: at }) => at ?? 'never' },
  { title: 'ENABLED', value: ({ enabled }) => String(enabled) },
  { title: 'ID', value: ({ id }) => id },
];
