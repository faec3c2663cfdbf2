import type { CommandRun } from '../../command.ts';
import { listResources } from '../../resources/list-resources.ts';

export const run: CommandRun = ({ context, flags }) =>
  listResources({
    context,
    kind: 'skills',
    filters: { organization: flags.text('organization') },
    columns: [
      { title: 'NAME', value: ({ name }) => name },
      { title: 'LATEST', value: ({ latest_version_id }) => latest_version_id },
      { title: 'UPDATED', value: ({ updated_at }) => updated_at },
      { title: 'ID', value: ({ id }) => id },
    ],
  });
