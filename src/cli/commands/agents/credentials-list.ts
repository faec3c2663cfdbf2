import type { CommandRun } from '../../command.ts';
import { listResources } from '../../resources/list-resources.ts';

export const run: CommandRun = ({ context, flags }) =>
  listResources({
    context,
    kind: 'credentials',
    filters: { organization: flags.text('organization') },
    columns: [
      { title: 'NAME', value: ({ name }) => name },
      { title: 'VALUE', value: ({ value_hint }) => value_hint },
      { title: 'AGENT', value: ({ agent_id }) => agent_id },
      { title: 'STATUS', value: ({ status }) => status },
      { title: 'FAILURES', value: ({ failure_count }) => failure_count },
      { title: 'ID', value: ({ id }) => id },
    ],
  });
