import { describe } from 'vitest';
import { testCalls, without } from './support.ts';

const PRICES = { in_use: 'shipped', shipped_version: '1.0.0', sha256: null };
const PLANNED = { diagnostics: [], plan: null };
const FILES = [{ name: 'a.yaml', text: 'a: 1' }];
const GIVEN = { text: '{}', sha256: 'ab', from: 'file' };

describe('operators', () => {
  testCalls([
    {
      name: 'status',
      call: ({ operators }, signal) => operators.status(signal),
      method: 'GET',
      target: '/admin/v1/status',
      answer: { version: '1.0.0' },
      refused: [{}],
    },
    {
      name: 'plan',
      call: ({ operators }, signal) =>
        operators.plan(FILES, { prune: true, adopt: false, ...(signal && { signal }) }),
      method: 'POST',
      target: '/admin/v1/configuration/plan',
      body: { files: FILES, prune: true, adopt: false },
      answer: PLANNED,
      refused: without(PLANNED, 'diagnostics', 'plan'),
    },
    {
      name: 'prices',
      call: ({ operators }, signal) => operators.prices(signal),
      method: 'GET',
      target: '/admin/v1/prices',
      answer: PRICES,
      refused: without(PRICES, 'in_use', 'shipped_version'),
    },
    {
      name: 'keepPrices',
      call: ({ operators }, signal) => operators.keepPrices(GIVEN, signal),
      method: 'PUT',
      target: '/admin/v1/prices',
      body: GIVEN,
      answer: PRICES,
      refused: without(PRICES, 'in_use', 'shipped_version'),
    },
    {
      name: 'dropPrices',
      call: ({ operators }, signal) => operators.dropPrices(signal),
      method: 'DELETE',
      target: '/admin/v1/prices',
      answer: PRICES,
      refused: without(PRICES, 'in_use', 'shipped_version'),
    },
  ]);
});
