import type { CommandRun } from '../../command.ts';
import { listResources } from '../../resources/list-resources.ts';

export const run: CommandRun = ({ context }) =>
  listResources({
    context,
    kind: 'apis',
    columns: [
      { title: 'NAME', value: ({ name }) => name },
      { title: 'ENABLED', value: ({ enabled }) => enabled },
      { title: 'KEY', value: ({ api_key_configured }) => api_key_configured },
      { title: 'METHODS', value: ({ methods }) => methods },
      { title: 'BASE URL', value: ({ base_url }) => base_url },
      { title: 'ID', value: ({ id }) => id },
    ],
  });
