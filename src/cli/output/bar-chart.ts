import { oneLine } from '../../core/printable.ts';
import type { Style } from './style.ts';

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** Text after the bar. */
  readonly text: string;
}

const WIDTH = 40;
/** Eighths of a cell, so that small differences are visible. */
const PARTS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/** Bars with their labels, the largest one forty cells long. No bar gives an empty text. */
export function renderBars(bars: readonly Bar[], style: Style): string {
  const most = Math.max(0, ...bars.map(({ value }) => value));
  const labels = bars.map(({ label }) => oneLine(label));
  const width = Math.max(0, ...labels.map(({ length }) => length));
  return bars
    .map(({ value, text }, index) => {
      const eighths = most > 0 ? Math.round((Math.max(0, value) / most) * WIDTH * 8) : 0;
      // An amount above nothing does not look like nothing.
      const shown = value > 0 ? Math.max(1, eighths) : 0;
      const bar = '█'.repeat(Math.floor(shown / 8)) + (PARTS[shown % 8] ?? '');
      const label = (labels[index] ?? '').padEnd(width);
      return `${style.bold(label)}  ${bar}${bar === '' ? '' : ' '}${text}`;
    })
    .join('\n');
}
