import { describe, expect, it } from 'vitest';
import { reportSpending } from '../../../src/server/routes/spending-report.ts';
import { createLedger } from '../../../src/usage/ledger/ledger-store.ts';
import { makeResources } from '../../resources/make-resources.ts';
import { createStarts, DAY, DOLLAR, outcome, principal } from '../../usage/usage-fixtures.ts';

const LIMITED = { lifetime: 1_000 * DOLLAR };

/** An organization with two keys; `use` has one of them pay for a call at an instant. */
async function setUp() {
  const { call, repository, store, clock } = makeResources();
  const owner = String((await call('POST organizations', { body: { name: 'acme' } })).body['id']);
  const keys: Record<string, string> = {};
  for (const name of ['first', 'second'])
    keys[name] = String(
      (await call('POST keys', { organization: owner, body: { name } })).body['id'],
    );
  const ledger = createLedger({ store, clock, worker: 'w1' });
  const start = createStarts(clock);
  const of = (key: string) =>
    principal({ keyId: keys[key] ?? '', organizationId: owner, keySpend: LIMITED });
  const begin = (key: string, bound: number, at = clock.now()) =>
    ledger.begin(start({ principal: { ...of(key), organizationSpend: LIMITED }, bound, at }));
  const use = async (key: string, cost: number, at = clock.now()) => {
    const entry = begin(key, cost, at);
    await entry.admitted;
    entry.settle(outcome({ cost }));
    await entry.settled;
    await ledger.drain();
  };
  const ask = (search: string) => reportSpending(search, { repository, store, clock });
  return { owner, keys, clock, begin, use, ask };
}

describe('the report of spending', () => {
  it('sums what a key spent, ever, in its month and on its day', async () => {
    const { keys, clock, use, ask } = await setUp();
    await use('first', 4 * DOLLAR, clock.now() - 30 * DAY);
    await use('first', 2 * DOLLAR, clock.now() - DAY);
    await use('first', DOLLAR);
    await use('second', 100 * DOLLAR);
    expect(await ask(`?key=${keys['first']}`)).toMatchObject({
      type: 'spending',
      currency: 'USD',
      spent: { lifetime: '7.00', month: '3.00', day: '1.00' },
      reserved: '0.00',
      last_used_on: '2026-11-21',
    });
  });

  it('sums what all keys of an organization spent', async () => {
    const { owner, use, ask } = await setUp();
    await use('first', DOLLAR);
    await use('second', 2 * DOLLAR);
    for (const named of [owner, 'acme'])
      expect(await ask(`?organization=${named}`)).toMatchObject({
        spent: { lifetime: '3.00', month: '3.00', day: '3.00' },
      });
  });

  it('tells what calls under way may still cost', async () => {
    const { keys, begin, ask } = await setUp();
    await begin('first', 5 * DOLLAR).admitted;
    await begin('second', 3 * DOLLAR).admitted;
    const spent = { lifetime: '0.00', month: '0.00', day: '0.00' };
    expect(await ask(`?key=${keys['first']}`)).toMatchObject({ spent, reserved: '5.00' });
    expect(await ask('?organization=acme')).toMatchObject({ spent, reserved: '8.00' });
  });

  it('tells of the last use of the key itself, and of any key of the organization', async () => {
    const { keys, clock, use, ask } = await setUp();
    const before = clock.now() - 2 * DAY;
    await use('first', DOLLAR, before);
    await use('second', DOLLAR);
    expect(await ask(`?key=${keys['first']}`)).toMatchObject({ last_used_on: '2026-11-19' });
    const today = { last_used_on: '2026-11-21', last_used_at: '2026-11-21T00:00:00.000Z' };
    expect(await ask(`?key=${keys['second']}`)).toMatchObject(today);
    expect(await ask('?organization=acme')).toMatchObject(today);
  });

  it('tells of no use where there was none', async () => {
    const { keys, ask } = await setUp();
    for (const search of [`?key=${keys['first']}`, '?organization=acme&key='])
      expect(await ask(search)).toEqual({
        type: 'spending',
        currency: 'USD',
        spent: { lifetime: '0.00', month: '0.00', day: '0.00' },
        reserved: '0.00',
        last_used_at: null,
        last_used_on: null,
      });
  });

  it.each(['', '?key=', '?key=&organization=', '?key=first&organization=acme', '?name=first'])(
    'refuses to be asked for none or for both: %j',
    async (search) => {
      const { ask } = await setUp();
      await expect(ask(search)).rejects.toMatchObject({
        code: 'invalid_request',
        message: 'expected key or organization',
      });
    },
  );

  it.each(['?key=acme', '?organization=first', '?key=none', '?organization=none'])(
    'knows nothing of %s',
    async (search) => {
      const { ask } = await setUp();
      await expect(ask(search)).rejects.toMatchObject({ code: 'not_found' });
    },
  );
});
