import { once } from 'node:events';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { GatewayConfig } from '../../../src/config/read/load-config.ts';
import { SecretRef } from '../../../src/config/objects/references.ts';
import type { ServerConfig } from '../../../src/config/schema/server-config.ts';
import { checkCertificate, preflight } from '../../../src/server/process/preflight.ts';
import { createAuthority } from '../../support/certificates.ts';
import type { Issued } from '../../support/certificates.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

const HOST = '127.0.0.1';
const ANY = { host: HOST, port: 0 };

describe('what would end a start', () => {
  let directory: string;
  let env: Record<string, string>;
  beforeEach(async () => {
    directory = await directoryOfTest();
    env = {};
  });

  const check = (changes: object = {}): Promise<void> => {
    const server = {
      listen: { ...ANY, tls: null },
      dataDir: join(directory, 'data'),
      secrets: { masterKey: undefined, previousKeys: [], masterKeyFile: '' },
      metrics: { listen: null },
      console: { enabled: null, listen: null },
      harnesses: {},
      mcpServers: {},
      alerts: { webhooks: [], chats: [], mails: {} },
      ...changes,
    } as unknown as ServerConfig;
    const files = { read: () => Promise.reject(new Error('no files')) };
    return preflight(server, { env, files } as unknown as Parameters<typeof preflight>[1]);
  };
  const secret = (name: string): SecretRef => new SecretRef('env', name, '.');
  /** An address that is taken until the end of the test. */
  async function taken(): Promise<{ host: string; port: number }> {
    const server = createServer();
    server.listen(0, HOST);
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    return { host: HOST, port: (server.address() as AddressInfo).port };
  }

  it('is nothing where all is well, and nothing is made', async () => {
    await expect(check()).resolves.toBeUndefined();
    expect(await readdir(directory)).toEqual([]);
  });

  it('is a proxy of the environment that is none', async () => {
    env = { HTTPS_PROXY: 'ftp://proxy' };
    await expect(check()).rejects.toThrow('HTTPS_PROXY');
  });

  it.each([
    [{ secrets: { masterKey: secret('KEY'), previousKeys: [] } }],
    [{ secrets: { masterKey: undefined, previousKeys: [secret('OTHER'), secret('KEY')] } }],
    [{ harnesses: { coder: { env: { TOKEN: secret('KEY') } } } }],
    [{ mcpServers: { files: { env: { TOKEN: secret('KEY') } } } }],
    [{ sso: { issuer: 'https://id.test', client_secret: secret('KEY') } }],
    [{ alerts: { mails: { ops: { smtp: { user: 'u', password: secret('KEY') } } } } }],
  ])('is a secret of %o that cannot be had', async (changes) => {
    env = { OTHER: 'o' };
    await expect(check(changes)).rejects.toThrow('the environment variable KEY is not set');
    env = { OTHER: 'o', KEY: 'k' };
    await expect(check(changes)).resolves.toBeUndefined();
  });

  it('is a file in the way of the data directory, however deep', async () => {
    const file = join(directory, 'file');
    await writeFile(file, '');
    const message = `cannot use ${file} as the data directory: a file of that name is in the way; name another with server.data_dir`;
    await expect(check({ dataDir: file })).rejects.toThrow(message);
    await expect(check({ dataDir: join(file, 'a/b') })).rejects.toThrow(message);
  });

  it('is no data directory that is not there yet, however deep', async () => {
    await expect(check({ dataDir: join(directory, 'a/b/c') })).resolves.toBeUndefined();
    expect(await readdir(directory)).toEqual([]);
  });

  it.skipIf(process.getuid?.() === 0)('is a data directory that cannot be written', async () => {
    const closed = join(directory, 'closed');
    await mkdir(closed);
    await chmod(closed, 0o500);
    await expect(check({ dataDir: join(closed, 'a') })).rejects.toThrow(
      `cannot use ${closed} as the data directory: it cannot be written`,
    );
  });

  it('is an address that cannot be had', async () => {
    const listen = await taken();
    const message = `port ${listen.port} of ${HOST} is in use`;
    await expect(check({ listen: { ...listen, tls: null } })).rejects.toThrow(message);
    await expect(check({ metrics: { listen } })).rejects.toThrow(message);
    await expect(check({ console: { enabled: null, listen } })).rejects.toThrow(message);
    await expect(check({ console: { enabled: false, listen } })).resolves.toBeUndefined();
  });
});

describe('the certificate that the server is to listen with', () => {
  let pair: Issued;
  let other: Issued;
  let authority: ReturnType<typeof createAuthority>;
  beforeAll(() => {
    authority = createAuthority('tests');
    pair = authority.issue('localhost');
    other = authority.issue('localhost');
  });
  afterAll(() => authority.dispose());

  const certificatePlaces = {
    cert: { file: 'gateway.yaml', line: 3, column: 11 },
    key: { file: 'more.yaml', line: 4, column: 12 },
  };
  async function check(files: Partial<Issued>) {
    const directory = await directoryOfTest();
    const tls = { cert: join(directory, 'one.crt'), key: join(directory, 'one.key') };
    if (files.cert !== undefined) await writeFile(tls.cert, files.cert);
    if (files.key !== undefined) await writeFile(tls.key, files.key);
    const config = { server: { listen: { ...ANY, tls } }, certificatePlaces };
    return checkCertificate(config as unknown as GatewayConfig);
  }

  it('is no problem with its key, nor where there is none', async () => {
    expect(await check(pair)).toEqual([]);
    const plain = { server: { listen: { ...ANY, tls: null } }, certificatePlaces };
    expect(await checkCertificate(plain as unknown as GatewayConfig)).toEqual([]);
  });

  it.each<[string, 'cert' | 'key', () => Partial<Issued>]>([
    ['is not there', 'cert', () => ({ key: pair.key })],
    ['is none', 'cert', () => ({ ...pair, cert: 'none' })],
    ['has no key', 'key', () => ({ cert: pair.cert })],
    ['has another key', 'key', () => ({ cert: pair.cert, key: other.key })],
  ])('is a problem at the name of its file where it %s', async (_what, part, files) => {
    expect(await check(files())).toEqual([
      {
        ...certificatePlaces[part],
        path: `server.listen.tls.${part}`,
        severity: 'error',
        message: expect.stringContaining(`one.${part === 'cert' ? 'crt' : 'key'}`),
      },
    ]);
  });
});
