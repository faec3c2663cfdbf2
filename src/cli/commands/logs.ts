import { isRecord } from '../../client/guards.ts';
import { collect } from '../../client/pages.ts';
import type { RequestRecord } from '../../client/requests.ts';
import type { CommandInput, CommandResult, CommandRun } from '../command.ts';
import { toId } from '../resource-ids.ts';
import { renderFields, renderTable, type Column } from '../table.ts';

export const run: CommandRun = async (input) => {
  const id = input.args['request'];
  return id === undefined ? listRequests(input) : showRequest(input, id);
};

const COLUMNS: readonly Column<RequestRecord>[] = [
  { title: 'TIME', value: ({ created_at }) => created_at },
  { title: 'KEY', value: ({ key }) => (isRecord(key) ? key['name'] : key) },
  { title: 'MODEL', value: ({ model }) => model },
  { title: 'API', value: ({ surface }) => surface },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'RESULT', value: ({ result }) => result },
  { title: 'MS', value: ({ total_ms }) => total_ms },
  { title: 'COST USD', value: ({ cost }) => cost },
  { title: 'REQUEST', value: ({ id }) => id },
];

async function listRequests({ flags, context }: CommandInput): Promise<CommandResult> {
  const { signal } = context;
  const limit = flags.number('limit') ?? 20;
  const client = await context.connect();
  const idOf = (kind: 'keys' | 'organizations', given: string | undefined) =>
    toId(client, { kind, given, signal });
  const query = {
    limit: Math.min(limit, 100),
    key: await idOf('keys', flags.text('key')),
    model: flags.text('model'),
    status: flags.text('status'),
    organization: await idOf('organizations', flags.text('organization')),
    from: flags.text('from'),
    to: flags.text('to'),
  };
  const rows = await collect(client.requests.list(query, signal), limit);
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
  const shown = { ...record, attempts: attemptsText(record['attempts']) };
  return { data: record, text: (style) => renderFields(shown, style) };
}

/** `backup: status_503 in 3 ms, main: ok in 210 ms`: in which order who was asked, and what came of it. */
function attemptsText(attempts: unknown): unknown {
  if (!Array.isArray(attempts) || !attempts.every(isRecord)) return attempts;
  return attempts
    .map(
      ({ provider, outcome, ms }) => `${String(provider)}: ${String(outcome)} in ${String(ms)} ms`,
    )
    .join(', ');
}
