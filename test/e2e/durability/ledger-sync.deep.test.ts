import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { verifies } from '../../requirements.ts';
import { runsOf } from '../../runs.ts';
import { eventually } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { gatewayOfTest } from '../../support/process/gateway-of-test.ts';
import { expectNothingLost } from '../process/kill-rounds.ts';
import type { KillRounds } from '../process/kill-rounds.ts';
import { watchJournal } from './watched-journal.ts';
import type { WatchedJournal } from './watched-journal.ts';

const STORE = { driver: 'lmdb' };
/** Calls of a kind that are looked at. */
const CALLS = 5;
const POWER_CUTS = runsOf(1, 3);

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

/** Lets a gateway learn the counters of its keys, so that the journal takes what comes. */
async function openSite(gateway: TestGateway): Promise<Site> {
  const asked = { name: 'watched', spending_limit: { lifetime: 100 } };
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

/** Looks at the first gateway, which is killed behind that. */
const killRounds = (ledgerSync: string, more: Partial<KillRounds> = {}): Promise<void> =>
  expectNothingLost({
    rounds: 1,
    store: STORE,
    server: { ledger_sync: ledgerSync },
    env: watched.env,
    ...more,
  });

const cutPower = (directory: string): void => watched.cutPower(ledgerOf(directory));

describe('server.ledger_sync', () => {
  it(
    verifies(
      'store.ledger-sync.values',
      '`process` leaves it to the system when the disk writes, and loses nothing to kill -9',
    ),
    async () => {
      const before = async (gateway: TestGateway): Promise<void> => {
        const site = await openSite(gateway);
        for (let i = 0; i < CALLS; i++)
          for (const key of [site.limited, gateway.clientKey]) await answered(site, key);
        await folded(site);
        expect(watched.syncs()).toBe(0);
      };
      await killRounds('process', { before });
    },
  );

  it(
    verifies(
      'store.ledger-sync.values',
      '`group` syncs what was written, nobody waits for it, and kill -9 takes nothing',
    ),
    async () => {
      const before = async (gateway: TestGateway): Promise<void> => {
        const site = await openSite(gateway);
        for (const key of [site.limited, gateway.clientKey]) {
          const syncs = watched.syncs();
          await answered(site, key);
          await eventually(async () => watched.syncs() > syncs);
          await folded(site);
        }
      };
      await killRounds('group', { before });
    },
  );

  it(
    verifies(
      'store.ledger-sync.values',
      '`call` lets each call wait until the disk has it, and loses none to a power cut',
    ),
    async () => {
      const before = async (gateway: TestGateway): Promise<void> => {
        const site = await openSite(gateway);
        for (let i = 0; i < CALLS; i++)
          for (const key of [site.limited, gateway.clientKey]) {
            const id = await answered(site, key);
            expect(watched.synced(site.folder)).toContain(id);
          }
      };
      await killRounds('call', { rounds: POWER_CUTS, before, onKilled: cutPower });
    },
  );

  it(
    verifies(
      'store.ledger-sync.values',
      'is by default `group` for calls with a limit and `process` for the rest',
    ),
    async () => {
      const config = {
        server: { store: STORE },
        providers: [{ name: 'mock', type: 'mock' }],
        models: [
          { name: 'acme/echo', routes: [{ provider: 'mock', pricing: { per_call: '0.01' } }] },
        ],
      };
      const site = await openSite(await gatewayOfTest(config, { env: watched.env }));
      const before = watched.syncs();
      for (let i = 0; i < CALLS; i++) await answered(site, site.gateway.clientKey);
      await folded(site);
      expect(watched.syncs()).toBe(before);
      await answered(site, site.limited);
      await eventually(async () => watched.syncs() > before);
    },
  );

  it('can lose calls to a power cut with `process`, which is what such a cut is made of here', async () => {
    const cut = killRounds('process', { rounds: 2, onKilled: cutPower });
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
