import { once } from 'node:events';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { nodeConfigFiles } from '../../../src/config/read/load.ts';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import { systemClock } from '../../../src/core/time/clock.ts';
import {
  checkStart,
  explainTaken,
  noteNeighbour,
} from '../../../src/server/process/check-start.ts';
import { openMasterKeys } from '../../../src/server/secrets/master-keys.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { verifies } from '../../requirements.ts';
import { runCli } from '../../cli/run-cli.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';
import { placeOf } from '../../support/process/place-of.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await directoryOfTest();
});

const sources = { env: {}, files: nodeConfigFiles };

async function configOf(server: object) {
  const stdin = JSON.stringify({ version: 1, server: { listen: { port: 0 }, ...server } });
  const { config } = await loadConfig({ paths: ['-'], stdin, cwd, env: {} });
  return config?.server ?? expect.fail('invalid');
}

const check = async (server: object) => checkStart(await configOf(server), sources);

/** A store that a start has made, of a master key of its own. */
async function makeStore(server: object): Promise<void> {
  const { store: place, secrets, dataDir } = await configOf(server);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const store = await openStore(place, { clock: systemClock });
  await openMasterKeys(store, { secrets, resolve: () => expect.fail('no secret') });
  await store.close();
}

describe('a start that would succeed', () => {
  it(
    verifies('process.start-check', 'has an Agent whose model the API made, and its file by -f'),
    async () => {
      const tree = {
        version: 1,
        server: { store: { driver: 'memory' } },
        providers: [{ name: 'mock', type: 'mock' }],
        models: [{ name: 'mock/echo', routes: [{ provider: 'mock' }] }],
        agents: [{ name: 'bot', model: 'mock/made' }],
      };
      await writeFile(join(cwd, 'own.yaml'), JSON.stringify(tree));
      const { code } = await runCli(['start', '--check', '-f', 'own.yaml'], { cwd });
      expect(code).toBe(0);
    },
  );

  it.each([[{}], [{ store: { driver: 'fs' } }], [{ store: { driver: 'memory' } }]])(
    'makes nothing in a new folder: %j',
    async (server) => {
      await check(server);
      expect(await readdir(cwd)).toEqual([]);
    },
  );

  it.each([[{}], [{ store: { driver: 'fs' } }]])('finds its store: %j', async (server) => {
    await makeStore(server);
    await check(server);
    // One process alone may have it, and the look is over.
    await check(server);
  });
});

it('would succeed on a store that a refused one has left without a key', async () => {
  const { store: place, dataDir } = await configOf({});
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await (await openStore(place, { clock: systemClock })).close();
  await check({});
});

describe('a start that would fail', () => {
  it.each(['postgres', 'redis'])(
    verifies('process.start-check', 'cannot reach its %s'),
    async (driver) => {
      const url = `${driver}://gw@127.0.0.1:1/gateway`;
      const store = { driver, options: { url } };
      await expect(check({ store, workers: 2 })).rejects.toMatchObject({ code: 'unavailable' });
    },
  );

  it(verifies('process.start-check', 'finds its store held by another process'), async () => {
    const server = { store: { driver: 'fs' } };
    await makeStore(server);
    const held = await openStore((await configOf(server)).store, { clock: systemClock });
    onTestFinished(() => held.close());
    await expect(check(server)).rejects.toMatchObject({ code: 'locked' });
  });

  it(
    verifies('process.start-check', 'has a master key that is not the one of its store'),
    async () => {
      await makeStore({});
      const key = join(cwd, '.gateway', 'master.key');
      await writeFile(key, 'a'.repeat(3) + 'another-master-key-of-32-characters!!');
      await expect(check({})).rejects.toThrow('the master key does not fit this store');
      await chmod(key, 0o644);
      await expect(check({})).rejects.toThrow('can be read by other users');
      await expect(check({ secrets: { master_key_file: join(cwd, 'none.key') } })).rejects.toThrow(
        'none.key does not exist',
      );
      expect(await readdir(cwd)).toEqual(['.gateway']);
    },
  );

  it('has a store that is a file, or is damaged', async () => {
    await writeFile(join(cwd, 'file'), '');
    const path = join(cwd, 'file', 'store');
    await expect(check({ store: { driver: 'lmdb', path } })).rejects.toThrow(
      'a file of that name is in the way; name another with server.store.path',
    );
    const broken = join(cwd, 'broken');
    await mkdir(broken);
    await writeFile(join(broken, 'data.mdb'), 'x'.repeat(5_000));
    await expect(check({ store: { driver: 'lmdb', path: broken } })).rejects.toMatchObject({
      code: 'corrupt',
    });
  });

  it('asks for workers of a store of one process, or for a driver that there is not', async () => {
    const store = { driver: 'fs' };
    await expect(check({ store, workers: 2 })).rejects.toThrow('belongs to one process');
    await expect(check({ store: { driver: 'nodb' } })).rejects.toThrow('no store driver "nodb"');
  });
});

describe('the gateway that has the folder', () => {
  const record = (url: string) => ({ url, since: 'then', ...placeOf(process.ppid) });
  const write = async (url: string): Promise<void> => {
    await mkdir(join(cwd, '.gateway'));
    await writeFile(join(cwd, '.gateway', 'runtime.json'), JSON.stringify(record(url)));
  };

  it(verifies('process.status', 'is named where its port is taken'), async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    onTestFinished(() => void taken.close());
    const { port } = taken.address() as AddressInfo;
    const server = await configOf({ listen: { host: '127.0.0.1', port } });
    const fault = await checkStart(server, sources).catch((error: unknown) => error);
    expect(explainTaken(fault, server)).toBeUndefined();
    await write(`http://127.0.0.1:${port}`);
    expect(explainTaken(fault, server)).toContain(
      `process ${process.ppid} at http://127.0.0.1:${port}`,
    );
    expect(explainTaken(new Error('other'), server)).toBeUndefined();
  });

  it(verifies('process.status', 'is named to a second process'), async () => {
    const dataDir = join(cwd, '.gateway');
    expect(noteNeighbour(dataDir)).toBe('');
    await write('http://127.0.0.1:1');
    expect(noteNeighbour(dataDir)).toContain(
      `process ${process.ppid} serves this folder already: http://127.0.0.1:1, since then`,
    );
  });
});
