import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const src = join(ROOT, 'src');

/** Path below `src` and text of every source file, styles and pages of the console included. */
const sources: ReadonlyMap<string, string> = new Map(
  readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(?:tsx?|css|html)$/.test(name))
    .sort()
    .map((name) => [name, readFileSync(join(src, name), 'utf8')]),
);

/** The modules below `src`, sorted. */
export const modules: readonly string[] = [...sources.keys()].filter((name) =>
  /\.tsx?$/.test(name),
);

export const textOf = (file: string): string => sources.get(file) ?? '';

export interface Import {
  from: string;
  to: string;
  /** Neither a type, which is erased by the compiler, nor lazy, which loads when it is called. */
  atLoad: boolean;
  isLazy: boolean;
}

export const imports: readonly Import[] = modules.flatMap((file) => {
  const text = textOf(file);
  const fixed = [...text.matchAll(/^(?:import|export)\s+(type\s)?[^;]*?from\s+'(\.[^']+)'/gm)];
  const dynamic = [...text.matchAll(/\bimport\(()'(\.[^']+)'\)/g)];
  const toImport = (isLazy: boolean) => (match: RegExpExecArray) => ({
    from: file,
    to: relative(src, join(src, dirname(file), match[2] as string)),
    atLoad: !isLazy && !match[1],
    isLazy,
  });
  return [...fixed.map(toImport(false)), ...dynamic.map(toImport(true))];
});

/** The folder directly below `src`; the files of `src` itself are one room. */
export const roomOf = (file: string): string =>
  file.includes('/') ? (file.split('/')[0] as string) : 'src';

/** Lines of source per room. */
export function linesOfRooms(): Record<string, number> {
  const lines: Record<string, number> = {};
  for (const [file, text] of sources) {
    const room = roomOf(file);
    lines[room] = (lines[room] ?? 0) + text.split('\n').length - 1;
  }
  return lines;
}
