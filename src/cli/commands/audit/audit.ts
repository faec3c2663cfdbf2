import type { AuditEntry, AuditQuery } from '../../../client/audit.ts';
import { collect } from '../../../client/http/pages.ts';
import type { Client } from '../../../client/create-client.ts';
import { usageError } from '../../cli-error.ts';
import type { CommandResult } from '../../command.ts';
import { readBeginning, readRange } from '../../input/read-time.ts';
import { changeLines, namesIn } from '../../details/audit-text.ts';
import { PAGE_WIDTH } from '../../output/style.ts';
import { toCsv } from '../../output/csv.ts';
import { showEvents } from '../../waiting/show-events.ts';
import { renderFields, renderLine, renderTable, type Column } from '../../output/table.ts';
import { lookUp } from '../../resources/not-found.ts';
import { toId } from '../../resources/resource-ids.ts';
import type { InputOf, RunOf } from '../../commands.ts';

const FOLLOW_MS = 1_000;
const MOST_OF_PAGE = 1_000;
/** Changes that an entry of the list shows. */
const SHOWN_CHANGES = 5;
/** An entry that comes live shows ids: nothing is asked for it. */
const FOLLOWED = { names: new Map(), most: SHOWN_CHANGES, width: PAGE_WIDTH } as const;

export const run: RunOf<'audit'> = async (input) => {
  const id = input.args.entry;
  const follows = input.flags.follow;
  if (id !== undefined && follows) throw usageError('--follow cannot be combined with an entry id');
  if (id !== undefined) return showEntry(input, id);
  return follows ? followEntries(input) : listEntries(input);
};

const COLUMNS: readonly Column<AuditEntry>[] = [
  { title: 'TIME', value: ({ at }) => at },
  { title: 'WHO', value: ({ actor }) => actor.name, isCut: true },
  { title: 'ACTION', value: ({ action }) => action },
  { title: 'OBJECT', value: objectText, isCut: true },
  { title: 'FROM', value: ({ from }) => from.address },
  { title: 'ENTRY', value: ({ id }) => id, weight: 2 },
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
    text: async (style) => {
      if (output.quiet) return rows.map(({ id }) => id).join('\n');
      const names = await namesIn(client, rows, signal);
      const table = await renderTable(rows, COLUMNS, { style, empty: 'no audit entries' });
      const shown = { names, most: SHOWN_CHANGES, width: style.width };
      // A line of the table for each entry, after that of the titles.
      const lines = table.split('\n');
      return lines.flatMap((line, at) => [line, ...linesOf(rows[at - 1], shown)]).join('\n');
    },
  };
}

function linesOf(
  entry: AuditEntry | undefined,
  shown: Parameters<typeof changeLines>[1],
): string[] {
  return entry ? changeLines(entry, shown) : [];
}

function objectText({ object }: AuditEntry): string {
  return `${object.kind}/${object.name ?? object.id}`;
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
  const from = readBeginning(flags, clock.now());
  const client = await context.connect();
  const entries = client.audit.watch(await filters(client, flags, signal), {
    from,
    intervalMs: FOLLOW_MS,
    onTrouble: (error) => output.note(`${error.message}; retrying`),
    signal,
  });
  return showEvents(entries, {
    output,
    textOf: (entry) =>
      `${[renderLine(entry, COLUMNS), ...changeLines(entry, FOLLOWED)].join('\n')}\n`,
    isAwaited: false,
  });
}

async function showEntry({ context }: InputOf<'audit'>, id: string): Promise<CommandResult> {
  const client = await context.connect();
  const entry = await lookUp({ kind: 'audit', named: id }, () =>
    client.audit.get(id, context.signal),
  );
  return {
    data: entry,
    text: async (style) => {
      const names = await namesIn(client, [entry], context.signal);
      const lines = changeLines(entry, { names, most: Infinity, width: Infinity });
      const { changes: _changes, actor, from, object, ...rest } = entry;
      const who = `${actor.name} (${[actor.kind, actor.id].filter(Boolean).join(' ')})`;
      const source = [from.address, from.client].filter(Boolean).join(', ') || undefined;
      const facts = { at: entry.at, who, from: source, action: entry.action };
      const about = { ...facts, object: `${objectText(entry)} (${object.id})`, ...rest };
      const present = Object.entries(about).filter(([, value]) => value !== null);
      const fields = renderFields(Object.fromEntries(present), style);
      return lines.length === 0 ? fields : [fields, style.bold('changed'), ...lines].join('\n');
    },
  };
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
