import { expect, it } from 'vitest';
import { createKeyLookup } from '../../src/server/key-lookup.ts';
import type { Principal } from '../../src/usage/principal.ts';
import { createFakeClock } from '../support/fake-clock.ts';

function setup() {
  const clock = createFakeClock();
  const stored = new Set<string>();
  let seen = new Set<string>();
  let reads = 0;
  const store = { fails: false };
  const lookup = createKeyLookup({
    clock,
    keys: { lookup: (key) => (seen.has(key) ? ({ keyId: key } as Principal) : 'unknown') },
    async catchUp() {
      reads++;
      if (store.fails) throw new Error('the store is away');
      seen = new Set(stored);
    },
  });
  return { clock, stored, store, lookup, reads: () => reads };
}

it('finds a key that another process made a moment ago', async () => {
  const { lookup, stored, reads } = setup();
  stored.add('sk-new');
  expect(await lookup('sk-new')).toMatchObject({ keyId: 'sk-new' });
  expect(lookup('sk-new')).toMatchObject({ keyId: 'sk-new' });
  expect(reads()).toBe(1);
});

it('does not let guesses become the load of the store', async () => {
  const { lookup, stored, reads, clock } = setup();
  for (let guess = 0; guess < 1_000; guess++) expect(await lookup(`sk-${guess}`)).toBe('unknown');
  expect(reads()).toBe(20);
  clock.advance(1_000);
  stored.add('sk-new');
  expect(await lookup('sk-new')).toMatchObject({ keyId: 'sk-new' });
});

it('refuses no key as unknown while the store cannot tell', async () => {
  const { lookup, stored, store } = setup();
  stored.add('sk-new');
  store.fails = true;
  await expect(lookup('sk-new')).rejects.toMatchObject({ code: 'persistence_failed' });
  store.fails = false;
  expect(await lookup('sk-new')).toMatchObject({ keyId: 'sk-new' });
});
