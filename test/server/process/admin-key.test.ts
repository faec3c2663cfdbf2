import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GATEWAY_ORIGIN } from '../../../src/audit/audit-entry.ts';
import { ENTRIES } from '../../../src/audit/audit-rows.ts';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import { createIdSource } from '../../../src/core/ids.ts';
import { createLog } from '../../../src/core/log.ts';
import { systemClock as clock } from '../../../src/core/time/clock.ts';
import { bootstrap } from '../../../src/resources/bootstrap.ts';
import { openResources } from '../../../src/server/compose/open-resources.ts';
import type { LiveResources } from '../../../src/server/compose/open-resources.ts';
import { makeAdminKey } from '../../../src/server/process/admin-key.ts';
import { openMasterKeys } from '../../../src/server/secrets/master-keys.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { verifies } from '../../requirements.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const ENV = { MASTER: 'a-master-key-of-32-characters-00' };
const BY = { ...GATEWAY_ORIGIN, actor: { ...GATEWAY_ORIGIN.actor, name: 'the command' } };
const log = createLog({ clock, level: 'silent', format: 'text', write: () => undefined });

/** A machine whose gateway is stopped. */
async function newMachine(driver = 'lmdb') {
  const directory = await directoryOfTest();
  const store = { driver, path: './state' };
  const server = { store, secrets: { master_key: '${secret:env:MASTER}' } };
  const { config } = await loadConfig({
    paths: ['-'],
    stdin: JSON.stringify({ version: 1, server }),
    env: ENV,
    cwd: directory,
  });
  if (!config) throw new Error('the configuration is invalid');
  const file = join(config.server.dataDir, 'admin.key');
  const within = async <R>(use: (resources: LiveResources) => Promise<R>): Promise<R> => {
    const opened = await openStore(config.server.store, { clock });
    try {
      const { secrets } = config.server;
      const resolve = async (): Promise<string> => ENV.MASTER;
      const { keys: masterKeys } = await openMasterKeys(opened, { secrets, resolve });
      const parts = { masterKeys, clock, ids: createIdSource(clock), log };
      const resources = await openResources(opened, {
        ...parts,
        config: config.server,
        firstContentSet: false,
      });
      try {
        return await use(resources);
      } finally {
        resources.close();
      }
    } finally {
      await opened.close();
    }
  };
  const make = () =>
    makeAdminKey({ server: config.server, sources: config.sources, clock, by: BY });
  return { directory, file, make, within };
}

const keyIn = async (file: string): Promise<string> => (await readFile(file, 'utf8')).trim();

describe('a new admin key', () => {
  it(
    verifies('recovery.admin-key', 'takes the place of a lost one, which stays valid and is named'),
    async () => {
      const { file, make, within } = await newMachine();
      const first = await within(({ repository }) => bootstrap(repository));
      const made = await make();
      expect(made).toMatchObject({
        name: 'admin-2',
        organization: 'default',
        file,
        keptFile: undefined,
        former: [
          {
            name: 'admin',
            handle: 'admin',
            hint: first?.adminKey.replace(/(?<=^.{6}).*(?=.{4}$)/, '…'),
          },
        ],
      });
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const value = await keyIn(file);
      await within(async ({ keys, repository }) => {
        expect(keys.lookup(value)).toMatchObject({ keyId: made.id, keyName: 'admin-2' });
        expect(keys.lookup(first?.adminKey ?? '')).toMatchObject({ keyName: 'admin' });
        const { store } = repository;
        const entries = await store.list({ prefix: ENTRIES, limit: 1, reverse: true });
        expect(entries[0]?.value).toMatchObject({
          actor: { name: 'the command' },
          action: 'create',
          object: { kind: 'api_key', name: 'admin-2' },
        });
      });
      await expect(make()).rejects.toThrow(`${file} holds the admin key admin-2`);
      expect(await keyIn(file)).toBe(value);
    },
  );

  it('takes the place of one of another store, whose file is kept', async () => {
    const { directory, file, make, within } = await newMachine();
    await within(({ repository }) => bootstrap(repository));
    await make();
    await writeFile(file, 'sk-of-another-store-0123456789\n');
    const { keptFile, former } = await make();
    expect(await keyIn(keptFile ?? '')).toBe('sk-of-another-store-0123456789');
    expect(former.map(({ name }) => name)).toEqual(['admin', 'admin-2']);
    const names = await readdir(join(directory, '.gateway'));
    expect(names.filter((name) => /admin\.key/.test(name))).toHaveLength(2);
  });

  it('of an organization that is switched off is that of another', async () => {
    const { make, within } = await newMachine();
    await within(async ({ repository }) => {
      await bootstrap(repository);
      const definition = repository.definitionOf('organization');
      const scope = { organization: null };
      const { stored } = await repository.create(definition, { name: 'second' }, scope);
      await repository.update({ definition, idOrName: 'default', ...scope }, { enabled: false });
      expect(stored.spec.name).toBe('second');
    });
    expect(await make()).toMatchObject({ name: 'admin', organization: 'second' });
  });

  it('is not made where there is no store, nor in one that a process holds', async () => {
    const absent = await newMachine();
    await expect(absent.make()).rejects.toThrow(/there is no store in \S+state/);
    expect(await readdir(absent.directory)).toEqual([]);
    await expect((await newMachine('memory')).make()).rejects.toThrow('ends with its process');
    const held = await newMachine('fs');
    await held.within(async ({ repository }) => {
      await bootstrap(repository);
      await expect(held.make()).rejects.toThrow(/process/);
    });
    expect(await held.make()).toMatchObject({ name: 'admin-2' });
  });
});
