import { expect, it } from 'vitest';
import { createKeyLookup } from '../../../src/server/compose/key-lookup.ts';
import { createKeyTickets } from '../../../src/server/console/key-tickets.ts';
import type { Principal } from '../../../src/usage/principal.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

function setup() {
  const clock = createFakeClock();
  const stored = new Set<string>();
  let seen = new Set<string>();
  let reads = 0;
  const store = { fails: false, ageMs: 0 };
  const find = (key: string) => (seen.has(key) ? ({ keyId: key } as Principal) : 'unknown');
  const lookup = createKeyLookup({
    clock,
    ageMs: () => store.ageMs,
    keys: { lookup: find, find },
    tickets: createKeyTickets(),
    async catchUp() {
      reads++;
      if (store.fails) throw new Error('the store is away');
      seen = new Set(stored);
      store.ageMs = 0;
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
  await expect(lookup('sk-new')).rejects.toThrow('the store is away');
  store.fails = false;
  expect(await lookup('sk-new')).toMatchObject({ keyId: 'sk-new' });
});

it(
  verifies(
    'auth.key.revoked-message',
    'looks again before it believes what it knew a second ago, as when it was cut off or asleep',
  ),
  async () => {
    const { lookup, stored, store, reads } = setup();
    stored.add('sk-old');
    expect(await lookup('sk-old')).toMatchObject({ keyId: 'sk-old' });
    stored.delete('sk-old');
    store.ageMs = 999;
    expect(await lookup('sk-old')).toMatchObject({ keyId: 'sk-old' });
    expect(reads()).toBe(1);
    store.ageMs = 1_000;
    store.fails = true;
    await expect(lookup('sk-old')).rejects.toThrow('the store is away');
    store.fails = false;
    expect(await lookup('sk-old')).toBe('unknown');
  },
);
