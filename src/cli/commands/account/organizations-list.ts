import type { CommandRun } from '../../command.ts';
import { listResources } from '../../resources/list-resources.ts';
import { spendingText } from '../../input/spending-limit.ts';

export const run: CommandRun = ({ context }) =>
  listResources({
    context,
    kind: 'organizations',
    columns: [
      { title: 'NAME', value: ({ name }) => name },
      { title: 'DISPLAY NAME', value: ({ display_name }) => display_name },
      { title: 'ENABLED', value: ({ enabled }) => enabled },
      { title: 'SPENDING LIMIT', value: ({ spending_limit }) => spendingText(spending_limit) },
      { title: 'ID', value: ({ id }) => id },
    ],
  });
