import { expect, it, onTestFinished } from 'vitest';
import { startFakeServer } from '../client/fake-server.ts';
import { verifies } from '../requirements.ts';
import { loadedBy } from './loaded-modules.ts';

const roomsOf = (own: readonly string[]) => new Set(own.map((file) => file.split('/')[0]));

it(
  verifies('cli.startup', 'help loads a few small files and no package, so that it starts at once'),
  async () => {
    for (const argv of [['--help'], ['keys', 'create', '--help'], ['completion', 'bash']]) {
      const { files, own, packages } = await loadedBy(argv);
      expect(packages).toEqual([]);
      expect(own).toContain('cli/main.ts');
      const others = own.filter((file) => !/^(cli|core)\/|^client\/client-error/.test(file));
      expect(others).toEqual([]);
      const commands = own.filter((file) => file.startsWith('cli/commands/'));
      expect(commands).toHaveLength(1);
      expect(files.length).toBeLessThanOrEqual(7);
    }
  },
);

it(verifies('cli.startup', 'the version is told without the table of commands'), async () => {
  for (const spelling of ['--version', '-V', 'version']) {
    const { files, own, packages } = await loadedBy([spelling]);
    expect(packages).toEqual([]);
    expect(own.filter((file) => file.startsWith('cli/tables/'))).toEqual([]);
    expect(files.length).toBeLessThanOrEqual(2);
  }
});

it(
  verifies('cli.startup', 'configuration and server are loaded by the commands that need them'),
  async () => {
    const server = await startFakeServer(() => ({ body: { status: 'ok' } }));
    onTestFinished(() => server.close());
    const remote = await loadedBy(['api', 'GET', '/healthz'], {
      env: { GATEWAY_SERVER: server.url },
    });
    expect(roomsOf(remote.own)).toContain('client');
    for (const room of ['config', 'server', 'store', 'inference'])
      expect(roomsOf(remote.own)).not.toContain(room);
    const local = await loadedBy(['schema']);
    expect(roomsOf(local.own)).toContain('config');
    expect(roomsOf(local.own)).not.toContain('server');
    expect(roomsOf(local.own)).not.toContain('store');
  },
);
