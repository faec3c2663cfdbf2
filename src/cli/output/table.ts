import { oneLine, printable } from '../../core/printable.ts';
import { toLine, toLines } from '../details/nested-text.ts';
import type { Style } from './style.ts';

export interface Column<Row> {
  title: string;
  value: (row: Row) => unknown;
  /**
   * A table that is too wide leaves out empty columns and then those of least weight, of these the last
   * one first; 0 is shown only with -o wide. Default 1.
   */
  weight?: number;
  /** True for a text that is still of use when its end is cut off. Default false. */
  isCut?: boolean;
}

/** Characters that take one column each. */
const PLAIN = /^[\x20-\x7e…]*$/;
/** Characters that take two. */
const DOUBLE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Extended_Pictographic}/gu;
const GAP = 2;
/** Cell of an absent value. */
const EMPTY = '-';
/** A text that is cut keeps so many characters. */
const LEAST_OF_CUT = 24;
const SECONDS = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z$/;

/**
 * Rows as aligned text without borders, which pipes can cut as well, in the width of the style; absent
 * values are a dash, instants are whole seconds. No row gives only `empty`.
 */
export async function renderTable<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { style, empty }: { style: Style; empty: string },
): Promise<string> {
  if (rows.length === 0) return empty;
  const whole = rows.map((row) => columns.map(({ value }) => cell(seconds(value(row)))));
  const { shown, most } = fit(columns, whole, style.width);
  const titles = shown.map((at) => columns[at]?.title ?? '');
  const cells = whole.map((row) => shown.map((at) => cut(row[at] ?? '', most[at] ?? 0)));
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

interface Fit {
  /** Positions of the columns that are shown, in their order. */
  readonly shown: readonly number[];
  /** Characters of each column at most. */
  readonly most: readonly number[];
}

/** Texts that can be cut give way first, then whole columns; the first column always stays. */
function fit<Row>(
  columns: readonly Column<Row>[],
  cells: readonly (readonly string[])[],
  width: number,
): Fit {
  const most = columns.map(({ title }, at) =>
    Math.max(title.length, ...cells.map((row) => widthOf(row[at] ?? ''))),
  );
  const weightOf = (at: number) => columns[at]?.weight ?? 1;
  let shown = [...most.keys()].filter((at) => width === Infinity || weightOf(at) > 0);
  const excess = () => shown.reduce((sum, at) => sum + (most[at] ?? 0) + GAP, -GAP) - width;
  for (const at of shown) {
    const wide = most[at] ?? 0;
    if (columns[at]?.isCut && excess() > 0)
      most[at] = Math.min(wide, Math.max(wide - excess(), LEAST_OF_CUT));
  }
  const worth = (at: number) => (cells.every((row) => row[at] === EMPTY) ? 0 : weightOf(at));
  while (excess() > 0 && shown.length > 1) {
    const others = shown.slice(1);
    const least = Math.min(...others.map(worth));
    const left = others.findLast((at) => worth(at) === least);
    shown = shown.filter((at) => at !== left);
  }
  return { shown, most };
}

function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  return charactersOf(text).length + (text.match(DOUBLE)?.length ?? 0);
}

function cut(text: string, most: number): string {
  return widthOf(text) <= most
    ? text
    : `${charactersOf(text)
        .slice(0, most - 1)
        .join('')}…`;
}

/** Characters as people count them. */
function charactersOf(text: string): string[] {
  return Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment);
}

/** An instant without its fraction of a second, which only sorts. */
function seconds(value: unknown): unknown {
  return typeof value === 'string' ? value.replace(SECONDS, '$1Z') : value;
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
