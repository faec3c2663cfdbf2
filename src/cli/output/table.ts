import { oneLine, printable } from '../../core/printable.ts';
import { toLine, toLines } from '../details/nested-text.ts';
import type { Style } from './style.ts';

export interface Column<Row> {
  title: string;
  value: (row: Row) => unknown;
}

/** Characters that take one column each. */
const PLAIN = /^[\x20-\x7e]*$/;
const GAP = 2;

/**
 * Rows as aligned text without borders, which pipes can cut as well; absent values are a dash. No row
 * gives only `empty`.
 */
export async function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { style, empty }: { style: Style; empty: string },
): Promise<string> {
  if (rows.length === 0) return empty;
  const titles = columns.map(({ title }) => title);
  const cells = rows.map((row) => columns.map(({ value }) => cell(value(row))));
  const isPlain = cells.flat().every((text) => PLAIN.test(text));
  const head = titles.map((title) => style.bold(title));
  if (!isPlain) return trimmed(await renderWide(head, cells));
  const widths = titles.map((title, index) =>
    Math.max(title.length, ...cells.map((row) => row[index]?.length ?? 0)),
  );
  const gap = (text: string, index: number) => ' '.repeat((widths[index] ?? 0) - text.length + GAP);
  const line = (texts: readonly string[], shown = texts) =>
    shown.map((text, index) => text + gap(texts[index] ?? '', index)).join('');
  return trimmed([line(titles, head), ...cells.map((row) => line(row))].join('\n'));
}

/** Aligned by what characters take on a terminal, which for some is none or two columns. */
async function renderWide(head: string[], cells: readonly string[][]): Promise<string> {
  const { default: Table } = await import('cli-table3');
  const table = new Table({
    head,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': GAP },
    chars: NO_BORDERS,
  });
  table.push(...cells);
  return table.toString();
}

function trimmed(text: string): string {
  return text
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}

/** A single row, for lists that grow: its cells as they are in a table, but not aligned. */
export function renderLine<Row>(row: Row, columns: readonly Column<Row>[]): string {
  return columns.map(({ value }) => cell(value(row))).join('  ');
}

/** Fields of one object, a line each; nested values in further lines below its name. */
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

/** Further lines of a text are indented below its first one and cannot be taken for fields. */
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
