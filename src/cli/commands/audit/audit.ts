import type { AuditEntry, AuditQuery } from '../../../client/audit.ts';
import { collect } from '../../../client/http/pages.ts';
import type { Client } from '../../../client/create-client.ts';
import { usageError } from '../../cli-error.ts';
import type { CommandResult } from '../../command.ts';
import { readRange } from '../../input/read-time.ts';
import { toCsv } from '../../output/csv.ts';
import { showEvents } from '../../output/show-events.ts';
import { renderFields, renderLine, renderTable, type Column } from '../../output/table.ts';
import { lookUp } from '../../resources/not-found.ts';
import { toId } from '../../resources/resource-ids.ts';
import type { InputOf, RunOf } from '../../commands.ts';

const FOLLOW_MS = 1_000;
const MOST_OF_PAGE = 1_000;
/** Changes that a line of the list names. */
const SHOWN_CHANGES = 3;

export const run: RunOf<'audit'> = async (input) => {
  const id = input.args.entry;
  const follows = input.flags.follow;
  if (id !== undefined && follows) throw usageError('--follow cannot be combined with an entry id');
  if (id !== undefined) return showEntry(input, id);
  return follows ? followEntries(input) : listEntries(input);
};

const COLUMNS: readonly Column<AuditEntry>[] = [
  { title: 'TIME', value: ({ at }) => at },
  { title: 'WHO', value: ({ actor }) => actor.name },
  { title: 'FROM', value: ({ from }) => from.address },
  { title: 'ACTION', value: ({ action }) => action },
  { title: 'OBJECT', value: ({ object }) => `${object.kind}/${object.name ?? object.id}` },
  { title: 'CHANGED', value: changedText },
  { title: 'ENTRY', value: ({ id }) => id },
];

async function listEntries({ flags, context }: InputOf<'audit'>): Promise<CommandResult> {
  const { signal, clock, output } = context;
  const limit = flags.limit;
  const range = readRange(flags, clock.now());
  const client = await context.connect();
  const query = { ...(await filters(client, flags, signal)), ...withoutAbsent(range) };
  const entries = client.audit.list({ ...query, limit: Math.min(limit, MOST_OF_PAGE) }, signal);
  const rows = await collect(entries, limit);
  if (context.format === 'csv')
    return { data: rows, text: renderCsv(rows.flatMap(toCsvRows)), verbatim: true };
  return {
    data: rows,
    text: (style) =>
      output.quiet
        ? rows.map(({ id }) => id).join('\n')
        : renderTable(rows, COLUMNS, { style, empty: 'no audit entries' }),
  };
}

async function filters(
  client: Client,
  flags: InputOf<'audit'>['flags'],
  signal: AbortSignal,
): Promise<Omit<AuditQuery, 'from' | 'to' | 'limit'>> {
  const given = flags.organization;
  const organization = await toId(client, { kind: 'organizations', given, signal });
  const [actor, action, kind, object, request] = FILTERS.map((name) => flags[name]);
  return withoutAbsent({ organization, actor, action, kind, object, request });
}

const FILTERS = ['actor', 'action', 'kind', 'object', 'request'] as const;

function withoutAbsent<T extends object>(members: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const present = Object.entries(members).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [K in keyof T]?: NonNullable<T[K]> };
}

async function followEntries({ flags, context }: InputOf<'audit'>): Promise<CommandResult> {
  const { output, signal, clock } = context;
  const { from, to } = readRange(flags, clock.now());
  if (to !== undefined) throw usageError('--follow cannot be combined with --to');
  if (context.format === 'csv') throw usageError('--follow cannot be combined with -o csv');
  const client = await context.connect();
  const entries = client.audit.watch(await filters(client, flags, signal), {
    from,
    intervalMs: FOLLOW_MS,
    onTrouble: (error) => output.note(`${error.message}; retrying`),
    signal,
  });
  return showEvents(entries, {
    output,
    textOf: (entry) => `${renderLine(entry, COLUMNS)}\n`,
    isAwaited: false,
  });
}

async function showEntry({ context }: InputOf<'audit'>, id: string): Promise<CommandResult> {
  const client = await context.connect();
  const entry = await lookUp({ kind: 'audit', named: id }, () =>
    client.audit.get(id, context.signal),
  );
  return { data: entry, text: (style) => renderFields(entry, style) };
}

/** `enabled: true -> false, rpm_cap: - -> 60, and 2 more`. */
function changedText({ changes }: AuditEntry): string {
  const shown = changes
    .slice(0, SHOWN_CHANGES)
    .map(({ path, old, new: next }) => `${path}: ${valueText(old)} -> ${valueText(next)}`);
  const left = changes.length - shown.length;
  return [...shown, ...(left > 0 ? [`and ${left} more`] : [])].join(', ');
}

const MAX_VALUE = 40;

function valueText(value: unknown): string {
  if (value === null || value === undefined) return '-';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length <= MAX_VALUE ? text : `${text.slice(0, MAX_VALUE - 1)}…`;
}

interface CsvRow {
  readonly entry: AuditEntry;
  readonly change: AuditEntry['changes'][number] | undefined;
}

/** One row for each change, and one for an entry without any. */
function toCsvRows(entry: AuditEntry): CsvRow[] {
  const rows = entry.changes.map((change) => ({ entry, change }));
  return rows.length === 0 ? [{ entry, change: undefined }] : rows;
}

const CSV_COLUMNS: readonly Column<CsvRow>[] = [
  { title: 'id', value: ({ entry }) => entry.id },
  { title: 'at', value: ({ entry }) => entry.at },
  { title: 'organization', value: ({ entry }) => entry.organization },
  { title: 'actor_kind', value: ({ entry }) => entry.actor.kind },
  { title: 'actor_id', value: ({ entry }) => entry.actor.id },
  { title: 'actor_name', value: ({ entry }) => entry.actor.name },
  { title: 'address', value: ({ entry }) => entry.from.address },
  { title: 'client', value: ({ entry }) => entry.from.client },
  { title: 'action', value: ({ entry }) => entry.action },
  { title: 'object_kind', value: ({ entry }) => entry.object.kind },
  { title: 'object_id', value: ({ entry }) => entry.object.id },
  { title: 'object_name', value: ({ entry }) => entry.object.name },
  { title: 'path', value: ({ change }) => change?.path },
  { title: 'old', value: ({ change }) => change?.old },
  { title: 'new', value: ({ change }) => change?.new },
  { title: 'request_id', value: ({ entry }) => entry.request_id },
  { title: 'chain', value: ({ entry }) => entry.chain },
  { title: 'number', value: ({ entry }) => entry.number },
  { title: 'hash', value: ({ entry }) => entry.hash },
];

function renderCsv(rows: readonly CsvRow[]): string {
  const titles = CSV_COLUMNS.map(({ title }) => title);
  return toCsv(
    titles,
    rows.map((row) => CSV_COLUMNS.map(({ value }) => value(row))),
  );
}
