import { styleText } from 'node:util';

/** Characters that a table takes at most, unless every column is asked for. */
export const PAGE_WIDTH = 120;

/** Marks up text for a terminal; without colour every function gives its text back unchanged. */
export interface Style {
  /** Characters of a line of a table; infinite with -o wide. */
  readonly width: number;
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
}

export interface ColorQuestion {
  isTTY: boolean;
  env: Readonly<Record<string, string | undefined>>;
  /** The flag --no-color. */
  off: boolean;
}

/** Colour belongs on a terminal unless it was asked to stay plain (no-color.org). */
export function wantsColor({ isTTY, env, off }: ColorQuestion): boolean {
  return isTTY && !off && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

export function createStyle(color: boolean, width = PAGE_WIDTH): Style {
  // The caller has looked for a terminal already, so styleText must not judge by process.stdout.
  const mark = (format: 'bold' | 'dim' | 'red' | 'green' | 'yellow') => (text: string) =>
    color ? styleText(format, text, { validateStream: false }) : text;
  return {
    width,
    bold: mark('bold'),
    dim: mark('dim'),
    red: mark('red'),
    green: mark('green'),
    yellow: mark('yellow'),
  };
}
