import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What is counted → where → how many. Zero is left out. */
export type Numbers = Record<string, Record<string, number>>;

export interface Change {
  kind: string;
  area: string;
  /** The number in the file. */
  number: number;
  count: number;
}

export const LOWER = 'npm run lower';

const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

export function readNumbers(name: string): Numbers {
  return JSON.parse(readFileSync(pathOf(name), 'utf8')) as Numbers;
}

/** Every count that differs from its number. */
export function compare(numbers: Numbers, counts: Numbers): Change[] {
  return Object.entries(counts).flatMap(([kind, now]) => {
    const before = numbers[kind] ?? {};
    return [...new Set([...Object.keys(before), ...Object.keys(now)])]
      .map((area) => ({ kind, area, number: before[area] ?? 0, count: now[area] ?? 0 }))
      .filter(({ number, count }) => number !== count);
  });
}

/** The numbers with every one lowered that is above its count; none is raised or added. */
export function lower(numbers: Numbers, counts: Numbers): Numbers {
  const kinds = Object.entries(numbers).map(([kind, before]) => {
    const areas = Object.entries(before)
      .map(([area, number]): [string, number] => [
        area,
        Math.min(number, counts[kind]?.[area] ?? 0),
      ])
      .filter(([, number]) => number > 0);
    return [kind, Object.fromEntries(areas)] as const;
  });
  return Object.fromEntries(kinds);
}

export function writeNumbers(name: string, numbers: Numbers): void {
  writeFileSync(pathOf(name), `${JSON.stringify(numbers, null, 2)}\n`);
}
