import { chmod, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SecretRef } from '../../../src/config/objects/references.ts';
import { openMasterKeys } from '../../../src/server/secrets/master-keys.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { StoreError } from '../../../src/store/store.ts';
import type { Store } from '../../../src/store/store.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const GOOD = 'one sensible key of many words';
const OTHER = 'and another one for the rotation';
const reference = (name: string) => new SecretRef('env', name, '/');

function newStore(): Promise<Store> {
  return openStore({ driver: 'memory' }, { clock: createFakeClock() });
}

/** A machine: its folder, and its start on a store with a key of the configuration or the one of its file. */
async function newMachine() {
  const directory = await directoryOfTest();
  const masterKeyFile = join(directory, 'master.key');
  const open = (store: Store, master?: string, previous: readonly string[] = []) =>
    openMasterKeys(store, {
      secrets: {
        masterKey: master === undefined ? undefined : reference(master),
        previousKeys: previous.map(reference),
        masterKeyFile,
        exec: [],
      },
      resolve: async ({ name }) => name,
    });
  return { directory, masterKeyFile, open };
}

describe('the master key', () => {
  it('of a new store is made once, in a private file', async () => {
    const { open, masterKeyFile } = await newMachine();
    const store = await newStore();
    const { keys, warning } = await open(store);
    expect(warning).toBeUndefined();
    expect(String(keys[0])).toBe((await readFile(masterKeyFile, 'utf8')).trim());
    expect((await open(store)).keys).toEqual(keys);
  });

  it(
    verifies('store.secrets.second-node', 'is not made by a machine whose store has one elsewhere'),
    async () => {
      const store = await newStore();
      await (await newMachine()).open(store);
      const second = await newMachine();
      await expect(second.open(store)).rejects.toThrow(
        /master\.key does not exist, and this store was made with a master key: put the file there/,
      );
      expect(await readdir(second.directory)).toEqual([]);
    },
  );

  it(
    verifies(
      'store.secrets.second-node',
      'of one of two machines that start at once is that of both',
    ),
    async () => {
      const store = await newStore();
      const machines = await Promise.all([newMachine(), newMachine(), newMachine()]);
      const opened = await Promise.allSettled(machines.map(({ open }) => open(store)));
      expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const files = await Promise.all(machines.map(({ directory }) => readdir(directory)));
      expect(files.flat()).toEqual(['master.key']);
    },
  );

  it('of a store that did not say whether it took it stays, and fits at the next start', async () => {
    const store = await newStore();
    const { open, masterKeyFile } = await newMachine();
    const cut: Store = {
      ...store,
      get: (key) => store.get(key),
      async commit(ops) {
        await store.commit(ops);
        throw new StoreError('unavailable', 'no answer');
      },
    };
    await expect(open(cut)).rejects.toThrow('no answer');
    const kept = await readFile(masterKeyFile, 'utf8');
    expect(String((await open(store)).keys[0])).toBe(kept.trim());
  });

  it('that a store was not made with is refused, and its file stays', async () => {
    const store = await newStore();
    const { open, masterKeyFile } = await newMachine();
    await open(store, GOOD);
    await expect(open(store, OTHER)).rejects.toThrow('the master key does not fit this store');
    await writeFile(masterKeyFile, `${OTHER}\n`, { mode: 0o600 });
    await expect(open(store)).rejects.toThrow('the master key does not fit this store');
    expect(await readFile(masterKeyFile, 'utf8')).toBe(`${OTHER}\n`);
    await chmod(masterKeyFile, 0o644);
    await expect(open(store)).rejects.toThrow(`chmod 600 ${masterKeyFile}`);
    await rm(masterKeyFile);
    expect((await open(store, OTHER, [GOOD])).keys.map(String)).toEqual([OTHER, GOOD]);
  });

  it.each(['abc', 'aaaaaaaaaaaaaaaaaaaaaaaa', 'changemechangeme'])(
    verifies('store.secrets.weak-key', '%j is refused on a new store, and nothing is made'),
    async (weak) => {
      const { open, masterKeyFile } = await newMachine();
      const store = await newStore();
      const refusal = /easy to guess: .*; make one with `openssl rand -hex 32` and set/;
      await expect(open(store, weak)).rejects.toThrow(refusal);
      await writeFile(masterKeyFile, weak, { mode: 0o600 });
      await expect(open(store)).rejects.toThrow(refusal);
      expect((await open(store, GOOD)).warning).toBeUndefined();
    },
  );

  it(
    verifies('store.secrets.weak-key', 'of a store that has it is taken, with a warning'),
    async () => {
      const { open } = await newMachine();
      const store = await newStore();
      await open(store, GOOD);
      const { warning } = await open(store, 'abc', [GOOD]);
      expect(warning).toMatch(
        /3 characters .* list the present key under server\.secrets\.previous/,
      );
      expect((await open(store, OTHER, ['abc', GOOD])).warning).toBeUndefined();
    },
  );
});
