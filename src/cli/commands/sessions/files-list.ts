import type { CommandRun } from '../../command.ts';
import { listResources } from '../../resources/list-resources.ts';

export const run: CommandRun = ({ context, flags }) =>
  listResources({
    context,
    kind: 'files',
    filters: { organization: flags.text('organization') },
    columns: [
      { title: 'NAME', value: ({ name }) => name },
      { title: 'TYPE', value: ({ mime_type: type }) => type },
      { title: 'BYTES', value: ({ size_bytes: size }) => size },
      { title: 'CREATED', value: ({ created_at: at }) => at },
      { title: 'ID', value: ({ id }) => id },
    ],
  });
