import type { CommandRun } from '../../command.ts';
import { listResources } from '../../resources/list-resources.ts';
import { spendingText } from '../../input/spending-limit.ts';

export const run: CommandRun = ({ context, flags }) =>
  listResources({
    context,
    kind: 'keys',
    filters: { organization: flags.text('organization') },
    columns: [
      { title: 'NAME', value: ({ name }) => name },
      { title: 'KEY', value: ({ hint }) => hint },
      { title: 'ORGANIZATION', value: ({ organization }) => organization },
      { title: 'ENABLED', value: ({ enabled }) => enabled },
      { title: 'EXPIRES', value: ({ expires_at }) => expires_at },
      { title: 'RPM', value: ({ rpm_cap }) => rpm_cap },
      { title: 'SPENDING LIMIT', value: ({ spending_limit }) => spendingText(spending_limit) },
      { title: 'ID', value: ({ id }) => id },
    ],
  });
