import { expect, it } from 'vitest';
import type { Store } from '../../../src/store/store.ts';
import { amountsElsewhere, slicedElsewhere } from '../../../src/usage/slices/slice-rows.ts';

const SCOPE = { kind: 'key', id: 'key_1' } as const;

it('tells what other workers have set aside of a scope', async () => {
  const amounts = { w1: 5, w2: 7, w3: 11 };
  const asked: unknown[] = [];
  const store = {
    async list(options: unknown) {
      asked.push(options);
      return Object.entries(amounts).map(([worker, amount]) => ({
        key: ['slice', SCOPE.kind, SCOPE.id, worker],
        value: [amount, '2026-11-28'],
        version: 'v',
      }));
    },
  } as unknown as Pick<Store, 'list'>;
  expect(await amountsElsewhere(store, SCOPE, 'w2')).toEqual([5, 11]);
  expect(await slicedElsewhere(store, SCOPE, 'w2')).toBe(16);
  expect(await slicedElsewhere(store, SCOPE, 'w4')).toBe(23);
  expect(asked[0]).toEqual({ prefix: ['slice', 'key', 'key_1'], limit: 1_000 });
});
