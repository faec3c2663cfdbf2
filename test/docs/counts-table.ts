import { readFileSync } from 'node:fs';
import { CLIENTS } from '../protocols/translating.ts';
import { ASKED } from '../protocols/vendors/counts.ts';
import type { Counts } from '../protocols/vendors/counts.ts';
import { table } from './table.ts';

const FILE = new URL('../fixtures/vendors/counts.json', import.meta.url);

/** Members of the recorded requests that are fitted and lost, and requests that are refused. */
export function countsTable(): string {
  const all = JSON.parse(readFileSync(FILE, 'utf8')) as Counts[];
  const rows = ASKED.map(({ model, provider }) => [
    `\`${model}\``,
    provider,
    ...CLIENTS.map((client) => {
      const found = all.find(
        (one) => one.client === client && one.provider === provider && one.model === model,
      );
      return found ? `${sum(found.fitted)} · ${sum(found.lost)} · ${found.refused}` : 'as it is';
    }),
  ]);
  return table([['Upstream model', 'Asked in', ...CLIENTS], ...rows]);
}

const sum = (members: Counts['fitted']): number =>
  Object.values(members).reduce((total, number) => total + number, 0);
