import type { Client } from '../../../client/create-client.ts';
import { ClientError } from '../../../client/http/client-error.ts';
import { isRecord } from '../../../client/http/guards.ts';
import { collect } from '../../../client/http/pages.ts';
import type { UsageRow } from '../../../client/usage.ts';
import type { RequestRecord, RequestsQuery } from '../../../client/requests.ts';
import { usageError } from '../../cli-error.ts';
import type { CommandResult } from '../../command.ts';
import { addNames } from '../../details/references.ts';
import { refuserText, renderRequest } from '../../details/request-page.ts';
import { lookUp } from '../../resources/not-found.ts';
import { readBeginning, readRange } from '../../input/read-time.ts';
import { toId } from '../../resources/resource-ids.ts';
import { showEvents } from '../../waiting/show-events.ts';
import { renderLine, renderTable, type Column } from '../../output/table.ts';
import type { InputOf, RunOf } from '../../commands.ts';

const FOLLOW_MS = 1_000;

export const run: RunOf<'logs'> = async (input) => {
  const id = input.args.request;
  const follows = input.flags.follow;
  if (id !== undefined && follows)
    throw usageError('--follow cannot be combined with a request id');
  if (id !== undefined) return showRequest(input, id);
  return follows ? followRequests(input) : listRequests(input);
};

const COLUMNS: readonly Column<RequestRecord>[] = [
  { title: 'TIME', value: ({ created_at }) => created_at },
  { title: 'KEY', value: ({ key }) => (isRecord(key) ? key['name'] : key) },
  { title: 'MODEL', value: ({ model }) => model, isCut: true },
  { title: 'PROVIDER', value: (row) => providersOf(row).at(-1) },
  { title: 'API', value: ({ surface }) => surface, weight: 0 },
  { title: 'STATUS', value: ({ status }) => status },
  { title: 'RESULT', value: resultOf, isCut: true },
  { title: 'MS', value: ({ total_ms }) => total_ms },
  { title: 'COST USD', value: ({ cost }) => cost ?? 'unpriced' },
  { title: 'REQUEST', value: ({ id }) => id, weight: 2 },
];

function resultOf(record: RequestRecord): string {
  const refuser = refuserText(record);
  return refuser === undefined ? record.result : `${record.result}: ${refuser}`;
}

/** Providers of its attempts, left out ones first; the one that answered comes last. */
function providersOf({ answered_by: by, attempts }: RequestRecord): unknown[] {
  const tried: unknown[] = Array.isArray(attempts) ? attempts : [];
  return [...tried, by].filter(isRecord).map(({ provider }) => provider);
}

async function listRequests({ flags, context }: InputOf<'logs'>): Promise<CommandResult> {
  const { signal, clock } = context;
  const limit = flags.limit;
  const range = readRange(flags, clock.now());
  const client = await context.connect();
  const query = {
    ...(await filters(client, flags, signal)),
    ...range,
    status: flags.status,
    limit: Math.min(limit, 100),
  };
  const rows = await collect(client.requests.list(query, signal), limit);
  return {
    data: rows,
    text: async (style) => {
      if (context.output.quiet) return rows.map(({ id }) => id).join('\n');
      const table = await renderTable(rows, COLUMNS, { style, empty: 'no requests' });
      const { conversation, organization } = query;
      if (conversation === undefined) return table;
      const asked = { groupBy: [], conversation, organization, ...range };
      const { rows: sums } = await client.usage.report(asked, signal);
      return `${table}\n\n${conversationText(conversation, sums[0])}`;
    },
  };
}

/** All of a conversation, however many of its requests are listed. */
function conversationText(id: string, sums: UsageRow | undefined): string {
  if (!sums) return `conversation ${id}: nothing was counted`;
  const { requests, cost, unpriced = 0 } = sums;
  const more = unpriced > 0 && cost !== null ? `, and ${unpriced} of them unpriced` : '';
  return `conversation ${id}: ${requests} requests, ${cost === null ? 'unpriced' : `${cost} USD`}${more}`;
}

async function filters(
  client: Client,
  flags: InputOf<'logs'>['flags'],
  signal: AbortSignal,
): Promise<RequestsQuery> {
  const idOf = (kind: 'keys' | 'organizations', given: string | undefined) =>
    toId(client, { kind, given, signal });
  return {
    key: await idOf('keys', flags.key),
    model: flags.model,
    provider: flags.provider,
    conversation: flags.conversation,
    organization: await idOf('organizations', flags.organization),
  };
}

async function followRequests({ flags, context }: InputOf<'logs'>): Promise<CommandResult> {
  const { output, signal, clock } = context;
  const from = readBeginning(flags, clock.now());
  const client = await context.connect();
  const { status } = flags;
  const { provider, ...query } = await filters(client, flags, signal);
  // A watch covers requests of every status and provider; the server refuses a status that does not exist.
  if (status !== undefined)
    await collect(client.requests.list({ ...query, status, limit: 1 }, signal), 1);
  const records = client.requests.watch(query, {
    from,
    intervalMs: FOLLOW_MS,
    onTrouble: (error) => output.note(`${error.message}; retrying`),
    signal,
  });
  return showEvents(ended(records, { status, provider }), {
    output,
    textOf: (record) => `${renderLine(record, COLUMNS)}\n`,
    isAwaited: false,
  });
}

/** Requests that are over, and so have their status. */
async function* ended(
  records: AsyncGenerator<RequestRecord, never, undefined>,
  { status: wanted, provider }: Pick<RequestsQuery, 'status' | 'provider'>,
): AsyncGenerator<RequestRecord, never, undefined> {
  for (;;) {
    const { value } = await records.next();
    const { result, status } = value;
    const isWanted = wanted === undefined || [result, String(status)].includes(wanted);
    const isOfProvider = provider === undefined || providersOf(value).includes(provider);
    if (result !== 'pending' && isWanted && isOfProvider) yield value;
  }
}

/** With a key without the scope admin: the call of its own organization. */
async function showRequest({ context }: InputOf<'logs'>, id: string): Promise<CommandResult> {
  const { signal } = context;
  const client = await context.connect();
  const find = () =>
    client.requests.get(id, signal).catch((thrown: unknown) => {
      if (!(thrown instanceof ClientError) || thrown.code !== 'insufficient_scope') throw thrown;
      return client.account.execution(id, signal);
    });
  const record = await lookUp({ kind: 'requests', named: id }, find);
  return {
    data: record,
    text: async (style) => {
      const named = await addNames(client, record, signal);
      return renderRequest({ ...named, ...record }, style);
    },
  };
}
