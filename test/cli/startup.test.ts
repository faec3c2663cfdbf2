import { expect, it, onTestFinished } from 'vitest';
import { startFakeServer } from '../client/fake-server.ts';
import { verifies } from '../requirements.ts';
import { loadedBy } from './loaded-modules.ts';

const roomsOf = (own: readonly string[]) => new Set(own.map((file) => file.split('/')[0]));

/** Names of backends and what they say of themselves; the schema names the drivers. */
const DECLARATION =
  /^store\/(?:(?:backend|store|unstorage\/file-drivers)|backends\/(?:registry|[\w-]+\/backend))\.js$/;

const STORE_PACKAGE = /\/node_modules\/(?:lmdb|ioredis|pg|unstorage)\//;

it(
  verifies('cli.startup', 'help loads a few small files and no package, so that it starts at once'),
  async () => {
    for (const argv of [['--help'], ['keys', 'create', '--help'], ['version']]) {
      const { own, packages } = await loadedBy(argv);
      expect(packages).toEqual([]);
      expect(own).toContain('cli/main.js');
      const others = own.filter((file) => !file.startsWith('cli/'));
      expect(others.filter((file) => file !== 'core/printable.js')).toEqual([]);
      const commands = own.filter((file) => file.startsWith('cli/commands/'));
      expect(commands).toHaveLength(1);
      // Each costs half a millisecond and more; a bare Node.js takes about 40. Half are tables.
      expect(own.length).toBeLessThanOrEqual(24);
    }
  },
);

it(
  verifies('cli.startup', 'configuration and server are loaded by the commands that need them'),
  async () => {
    const server = await startFakeServer(() => ({ body: { status: 'ok' } }));
    onTestFinished(() => server.close());
    const remote = await loadedBy(['api', 'GET', '/healthz'], { GATEWAY_SERVER: server.url });
    expect(roomsOf(remote.own)).toContain('client');
    for (const room of ['config', 'server', 'store', 'inference'])
      expect(roomsOf(remote.own)).not.toContain(room);
    const local = await loadedBy(['schema']);
    expect(roomsOf(local.own)).toContain('config');
    expect(roomsOf(local.own)).not.toContain('server');
    const ofStore = local.own.filter((file) => file.startsWith('store/'));
    expect(ofStore.filter((file) => !DECLARATION.test(file))).toEqual([]);
    expect(local.packages.filter((file) => STORE_PACKAGE.test(file))).toEqual([]);
  },
);
