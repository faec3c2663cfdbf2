import type { CommandRun } from '../../command.ts';
import { listResources } from '../../resources/list-resources.ts';

export const run: CommandRun = ({ context, flags }) =>
  listResources({
    context,
    kind: 'services',
    filters: { organization: flags.text('organization') },
    columns: [
      { title: 'NAME', value: ({ name }) => name },
      { title: 'SLUG', value: ({ slug }) => slug },
      { title: 'STATUS', value: ({ status }) => status },
      { title: 'PROTOCOLS', value: (row) => list(row['protocols']) },
      { title: 'AGENT', value: ({ agent_id }) => agent_id },
      { title: 'ID', value: ({ id }) => id },
    ],
  });

function list(value: unknown): unknown {
  return Array.isArray(value) ? value.join(', ') : value;
}
