import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { verifies } from '../../requirements.ts';
import { eventually, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { expectNothingLost } from '../process/kill-rounds.ts';
import { watchJournal } from './watched-journal.ts';
import type { WatchedJournal } from './watched-journal.ts';

const STORE = { driver: 'lmdb' };
/** Calls of a kind that are looked at. */
const CALLS = 5;
const POWER_CUTS = 2;

let watched: WatchedJournal;
beforeEach(({ onTestFinished: atEnd }) => {
  watched = watchJournal();
  // Behind the stops of gateways, which are asked for later: they still write.
  atEnd(() => watched.remove());
});

interface Site {
  readonly gateway: TestGateway;
  readonly folder: string;
  /** Key with a spending limit. */
  readonly limited: string;
}

const ledgerOf = (directory: string): string => join(directory, '.gateway', 'store', 'ledger');

/** A gateway that knows the counters of its keys, so that the journal takes what comes. */
async function openSite(server: object): Promise<Site> {
  const gateway = await startGateway(
    {
      server: { store: STORE, ...server },
      providers: [{ name: 'mock', type: 'mock' }],
      models: [
        { name: 'acme/echo', routes: [{ provider: 'mock', pricing: { per_call: '0.01' } }] },
      ],
    },
    { binary: true, env: watched.env },
  );
  onTestFinished(async () => void (await gateway.stop()));
  const asked = { name: 'paid', spending_limit: { lifetime: 100 } };
  const { body } = await gateway.admin('POST', '/admin/v1/keys', asked);
  const site = { gateway, folder: ledgerOf(gateway.directory), limited: body.value };
  for (const key of [site.limited, gateway.clientKey]) await answered(site, key);
  await folded(site);
  return site;
}

/** Id of a call that was answered. */
async function answered({ gateway }: Site, key: string): Promise<string> {
  const { status, headers } = await gateway.chat('acme/echo', { key });
  expect(status).toBe(200);
  return headers.get('x-request-id') ?? '';
}

/** The store has everything: nothing of the journal is left to be synced. */
async function folded({ folder }: Site): Promise<void> {
  await eventually(async () => readdirSync(folder).length === 0);
}

describe('server.ledger_sync', () => {
  it(
    verifies('store.ledger-sync.values', '`process` leaves it to the system when the disk writes'),
    async () => {
      const site = await openSite({ ledger_sync: 'process' });
      for (let i = 0; i < CALLS; i++)
        for (const key of [site.limited, site.gateway.clientKey]) await answered(site, key);
      await folded(site);
      expect(watched.syncs()).toBe(0);
    },
  );

  it(
    verifies('store.ledger-sync.values', '`group` syncs what was written, and nobody waits for it'),
    async () => {
      const site = await openSite({ ledger_sync: 'group' });
      for (const key of [site.limited, site.gateway.clientKey]) {
        const before = watched.syncs();
        await answered(site, key);
        await eventually(async () => watched.syncs() > before);
        await folded(site);
      }
    },
  );

  it(
    verifies('store.ledger-sync.values', '`call` lets each call wait until the disk has it'),
    async () => {
      const site = await openSite({ ledger_sync: 'call' });
      for (let i = 0; i < CALLS; i++)
        for (const key of [site.limited, site.gateway.clientKey]) {
          const id = await answered(site, key);
          expect(watched.synced(site.folder)).toContain(id);
        }
    },
  );

  it(
    verifies(
      'store.ledger-sync.values',
      'is by default `group` for calls with a limit and `process` for the rest',
    ),
    async () => {
      const site = await openSite({});
      const before = watched.syncs();
      for (let i = 0; i < CALLS; i++) await answered(site, site.gateway.clientKey);
      await folded(site);
      expect(watched.syncs()).toBe(before);
      await answered(site, site.limited);
      await eventually(async () => watched.syncs() > before);
    },
  );

  for (const value of ['process', 'group'])
    it(
      verifies('store.ledger-sync.values', `loses no answered call to kill -9 with ${value}`),
      async () => {
        await expectNothingLost({ rounds: 1, store: STORE, server: { ledger_sync: value } });
      },
    );

  it(
    verifies('store.ledger-sync.values', 'loses no answered call to a power cut with `call`'),
    async () => {
      await expectNothingLost({
        rounds: POWER_CUTS,
        store: STORE,
        server: { ledger_sync: 'call' },
        env: watched.env,
        onKilled: (directory) => watched.cutPower(ledgerOf(directory)),
      });
    },
  );

  it('can lose calls to a power cut with `process`, which is what such a cut is made of here', async () => {
    const cut = expectNothingLost({
      rounds: POWER_CUTS,
      store: STORE,
      server: { ledger_sync: 'process' },
      env: watched.env,
      onKilled: (directory) => watched.cutPower(ledgerOf(directory)),
    });
    await expect(cut).rejects.toThrow('to deeply equal []');
  });

  it(
    verifies('store.ledger-sync.values', 'says in README and docs what a power cut can lose'),
    () => {
      const read = (path: string): string =>
        readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
      const readme = read('README.md')
        .split(/(?<=\.)\s/)
        .find((sentence) => sentence.includes('server.ledger_sync'));
      expect(readme).toMatch(/power cut.*`process`.*quarter of a second/);
      expect(readme).toMatch(/`group`.*hundredths of a second.*`call`.*nothing/);
      const rows = read('docs/operations/ledger.md').split('\n');
      const rowOf = (value: string): string => rows.find((row) => row.startsWith(`| ${value} `))!;
      expect(rowOf('`process`')).toContain('the last quarter of a second');
      expect(rowOf('`group`')).toContain('the last few hundredths of a second');
      expect(rowOf('`call`')).toContain('none that was answered');
      expect(rowOf('not set')).toMatch(/with a spending limit as `group`.*as `process`/);
    },
  );
});
