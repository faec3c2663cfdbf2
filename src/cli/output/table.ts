import { oneLine, printable } from '../../core/printable.ts';
import { toLine, toLines } from '../details/nested-text.ts';
import type { Style } from './style.ts';

export interface Column<Row> {
  title: string;
  value: (row: Row) => unknown;
}

/**
 * Rows as aligned text without borders, which pipes can cut as well; absent values are a dash. No row
 * gives `empty` alone.
 */
export async function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { style, empty }: { style: Style; empty: string },
): Promise<string> {
  if (rows.length === 0) return empty;
  const { default: Table } = await import('cli-table3');
  const table = new Table({
    head: columns.map(({ title }) => style.bold(title)),
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
    chars: NO_BORDERS,
  });
  for (const row of rows) table.push(columns.map(({ value }) => cell(value(row))));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** One row alone, for lists that grow: its cells as they are in a table, but not aligned. */
export function renderLine<Row>(row: Row, columns: readonly Column<Row>[]): string {
  return columns.map(({ value }) => cell(value(row))).join('  ');
}

/** Fields of one object, a line each; what is nested in further lines below its name. */
export function renderFields(value: Readonly<Record<string, unknown>>, style: Style): string {
  const entries = Object.entries(value).filter(([, field]) => field !== undefined);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  return entries
    .map(([name, field]) => `${style.bold(name.padEnd(width))}  ${indented(field, width + 2)}`)
    .join('\n');
}

function cell(value: unknown): string {
  return oneLine(toLine(value));
}

/** Further lines of a text stand below its first one and cannot be taken for fields. */
function indented(value: unknown, width: number): string {
  return printable(toLines(value)).replaceAll('\n', `\n${' '.repeat(width)}`);
}

const NO_BORDERS = Object.fromEntries(
  [
    [
      'top',
      'top-mid',
      'top-left',
      'top-right',
      'bottom',
      'bottom-mid',
      'bottom-left',
      'bottom-right',
    ],
    ['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'],
  ]
    .flat()
    .map((name) => [name, '']),
);
