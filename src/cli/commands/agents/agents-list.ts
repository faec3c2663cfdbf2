import { isRecord } from '../../../client/http/guards.ts';
import type { CommandRun } from '../../command.ts';
import { listResources } from '../../resources/list-resources.ts';

export const run: CommandRun = ({ context, flags }) =>
  listResources({
    context,
    kind: 'agents',
    filters: {
      organization: flags.text('organization'),
      include_archived: flags.on('archived') ? 'true' : undefined,
    },
    columns: [
      { title: 'NAME', value: ({ name }) => name },
      { title: 'MODEL', value: ({ model }) => (isRecord(model) ? model['id'] : model) },
      { title: 'HARNESS', value: ({ harness }) => (isRecord(harness) ? harness['name'] : harness) },
      { title: 'VERSION', value: ({ version }) => version },
      { title: 'ARCHIVED', value: ({ archived_at }) => archived_at },
      { title: 'ID', value: ({ id }) => id },
    ],
  });
