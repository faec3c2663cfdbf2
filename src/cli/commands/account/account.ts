import type { BalanceView } from '../../../client/account.ts';
import { isRecord } from '../../../client/http/guards.ts';
import { renderFields, renderTable } from '../../output/table.ts';
import type { Column } from '../../output/table.ts';
import type { RunOf } from '../../commands.ts';

interface WindowRow {
  readonly name: string;
  readonly limit: unknown;
  readonly spent: unknown;
}

const WINDOWS: readonly Column<WindowRow>[] = [
  { title: 'WINDOW', value: ({ name }) => name },
  { title: 'SPENT', value: ({ spent }) => spent },
  { title: 'LIMIT', value: ({ limit }) => limit },
];

export const run: RunOf<'account'> = async ({ context }) => {
  const client = await context.connect();
  const balance = await client.account.balance(context.signal);
  return {
    data: balance,
    text: async (style) => {
      if (context.output.quiet) return balance.balance;
      const { windows: _windows, ...fields } = balance;
      const rows = windowsOf(balance);
      const table = await renderTable(rows, WINDOWS, { style, empty: '' });
      return [renderFields(fields, style), table].filter((part) => part !== '').join('\n\n');
    },
  };
};

function windowsOf({ windows }: BalanceView): WindowRow[] {
  return Object.entries(isRecord(windows) ? windows : {}).flatMap(([name, window]) =>
    isRecord(window) ? [{ name, limit: window['limit'], spent: window['spent'] }] : [],
  );
}
