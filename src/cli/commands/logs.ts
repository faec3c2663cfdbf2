import { collect } from '../../client/pages.ts';
import type { RequestRecord } from '../../client/requests.ts';
import type { CommandInput, CommandResult, CommandRun } from '../command.ts';
import { renderFields, renderTable, type Column } from '../table.ts';

export const run: CommandRun = async (input) => {
  const id = input.args['request'];
  return id === undefined ? listRequests(input) : showRequest(input, id);
};

const COLUMNS: readonly Column<RequestRecord>[] = [
  { title: 'TIME', value: ({ created_at }) => created_at },
  { title: 'MODEL', value: ({ model }) => model },
  { title: 'API', value: ({ surface }) => surface },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'RESULT', value: ({ result }) => result },
  { title: 'MS', value: ({ total_ms }) => total_ms },
  { title: 'COST USD', value: ({ cost }) => cost },
  { title: 'REQUEST', value: ({ id }) => id },
];

async function listRequests({ flags, context }: CommandInput): Promise<CommandResult> {
  const limit = flags.number('limit') ?? 20;
  const query = {
    limit: Math.min(limit, 100),
    key: flags.text('key'),
    model: flags.text('model'),
    status: flags.text('status'),
    organization: flags.text('organization'),
    from: flags.text('from'),
    to: flags.text('to'),
  };
  const client = await context.connect();
  const rows = await collect(client.requests.list(query, context.signal), limit);
  return {
    data: rows,
    text: (style) =>
      context.output.quiet
        ? rows.map(({ id }) => id).join('\n')
        : renderTable(rows, COLUMNS, { style, empty: 'no requests' }),
  };
}

async function showRequest({ context }: CommandInput, id: string): Promise<CommandResult> {
  const client = await context.connect();
  const record = await client.requests.get(id, context.signal);
  return { data: record, text: (style) => renderFields(record, style) };
}
