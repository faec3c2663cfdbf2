import { expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/read/load-config.ts';
import { resolveSecret, SecretRef } from '../../../src/config/objects/references.ts';
import { fixedChanges } from '../../../src/server/process/reloads.ts';
import {
  fromSettingsMessage,
  toSettingsMessage,
} from '../../../src/server/process/worker-settings.ts';
import { verifies } from '../../requirements.ts';

const FILE = `
version: 1
server:
  workers: 3
  timeouts: { first_content: 7s }
  secrets: { master_key: '\${secret:env:MASTER}', previous_keys: ['\${secret:file:old.key}'] }
  store: { driver: redis, options: { url: 'redis://h' } }
  harnesses:
    coder: { command: coder, env: { TOKEN: '\${secret:env:TOKEN}', MODE: plain } }
`;

async function load(text = FILE) {
  const { config, diagnostics } = await loadConfig({
    paths: ['gateway.yaml'],
    env: {},
    envFile: true,
    cwd: '/etc/gateway',
    files: {
      read: async (path: string) =>
        Buffer.from(path.endsWith('.env') ? 'TOKEN=of .env\nA=1' : text),
      list: async () => undefined,
    } as never,
  });
  if (!config) throw new Error(JSON.stringify(diagnostics));
  return config;
}

it('reach a worker as they are, references to secrets included', async () => {
  const config = await load();
  const received = fromSettingsMessage(await toSettingsMessage(config));
  expect(received.server).toEqual(config.server);
  expect(received.server.secrets.masterKey).toBeInstanceOf(SecretRef);
  expect(received.server.secrets.previousKeys[0]).toBeInstanceOf(SecretRef);
  expect(received.origins).toEqual(config.origins);
  expect(received.fromEnvFile.values).toEqual({ TOKEN: 'of .env' });
});

it(
  verifies('secrets.exec', 'reach a worker with what commands printed in the first process'),
  async () => {
    const key = '${secret:exec:op read key}';
    const config = await load(FILE.replace('${secret:env:MASTER}', key));
    config.sources.commands = { run: async ({ name }) => `value of ${name}` };
    const { server, commands } = fromSettingsMessage(await toSettingsMessage(config));
    expect(server.secrets.masterKey).toEqual(config.server.secrets.masterKey);
    const sources = { ...config.sources, commands };
    await expect(resolveSecret(server.secrets.masterKey!, sources)).resolves.toBe(
      'value of op read key',
    );
    const elsewhere = new SecretRef('exec', 'op read key', '/other');
    await expect(resolveSecret(elsewhere, sources)).rejects.toThrow('no command runs in a worker');
  },
);

it('tell what new workers beside the former ones could not serve with', async () => {
  const { server } = await load();
  const other = (await load(FILE.replace('redis://h', 'redis://other'))).server;
  expect(fixedChanges(server, server)).toEqual([]);
  expect(fixedChanges(server, { ...other, workers: 5, drainMs: 1 })).toEqual(['server.store']);
  expect(fixedChanges(server, { ...server, workers: 1 })).toEqual(['server.workers: 1']);
});
