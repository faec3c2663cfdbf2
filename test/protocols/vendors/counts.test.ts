import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { countAll } from './counts.ts';

const FILE = fileURLToPath(new URL('../../fixtures/vendors/counts.json', import.meta.url));

it(
  verifies(
    'translate.counts',
    'recorded requests are fitted, lost and refused as they were; `-u` writes the counts again',
  ),
  async () => {
    const counts = countAll();
    expect(counts.every(({ requests }) => requests > 20)).toBe(true);
    await expect(`${JSON.stringify(counts, null, 1)}\n`).toMatchFileSnapshot(FILE);
  },
);
