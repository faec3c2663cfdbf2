import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  DEFAULT_SERVER,
  findConnection,
  ownUrlOf,
  readKeyFile,
} from '../../../src/cli/connection/connection.ts';
import { findDeclared } from '../../../src/cli/connection/declared-gateway.ts';
import { startFakeServer } from '../../client/fake-server.ts';
import { verifies } from '../../requirements.ts';
import { runCli } from '../run-cli.ts';
import { emptyDirectory } from '../../support/each-file/empty-directory.ts';

let cwd: string;
beforeEach(async () => {
  cwd = await emptyDirectory();
});

const sources = (more = {}) => ({
  server: undefined,
  apiKeyFile: undefined,
  env: {},
  cwd,
  near: undefined,
  keyRequired: false,
  ...more,
});

async function localGateway(directory: string, url = 'http://127.0.0.1:4567') {
  const home = join(directory, '.gateway');
  await mkdir(home, { recursive: true });
  await writeFile(join(home, 'admin.key'), 'sk-local\n', { mode: 0o600 });
  await writeFile(join(home, 'runtime.json'), JSON.stringify({ url, pid: 1 }));
}

const HERE = { near: undefined, envFile: true };

describe('connection', () => {
  it('is the default address without anything else', () => {
    expect(findConnection(sources())).toMatchObject({ server: DEFAULT_SERVER, apiKey: undefined });
  });

  it('is the gateway that runs in the nearest directory above', async () => {
    await localGateway(cwd);
    const below = join(cwd, 'a', 'b');
    await mkdir(below, { recursive: true });
    expect(findConnection(sources({ cwd: below }))).toMatchObject({
      server: 'http://127.0.0.1:4567',
      apiKey: 'sk-local',
      keyOrigin: join(cwd, '.gateway', 'admin.key'),
    });
  });

  it('looks beside a file that the command names first', async () => {
    await localGateway(join(cwd, 'project'));
    const found = findConnection(sources({ near: 'project/gateway.yaml' }));
    expect(found.server).toBe('http://127.0.0.1:4567');
  });

  it('forgets a server whose process is gone', async () => {
    await localGateway(cwd);
    const runtime = join(cwd, '.gateway', 'runtime.json');
    await writeFile(runtime, JSON.stringify({ url: 'http://127.0.0.1:4567', pid: 2 ** 22 + 1 }));
    expect(findConnection(sources()).server).toBe(DEFAULT_SERVER);
  });

  it('is the gateway of the project file when neither one is named nor runs', async () => {
    const declared = {
      server: 'http://127.0.0.1:9123',
      directory: join(cwd, 'data'),
      origin: 'gateway.yaml',
    };
    expect(findConnection(sources({ declared }))).toMatchObject({
      server: 'http://127.0.0.1:9123',
      serverOrigin: 'gateway.yaml',
      apiKey: undefined,
    });
    await mkdir(declared.directory);
    await writeFile(join(declared.directory, 'admin.key'), 'sk-data\n', { mode: 0o600 });
    expect(findConnection(sources({ declared })).apiKey).toBe('sk-data');
    // Another port than the file's, by a flag of the start.
    const running = JSON.stringify({ url: 'http://127.0.0.1:9456', pid: 1 });
    await writeFile(join(declared.directory, 'runtime.json'), running);
    expect(findConnection(sources({ declared }))).toMatchObject({
      server: 'http://127.0.0.1:9456',
      apiKey: 'sk-data',
    });
    await localGateway(cwd);
    expect(findConnection(sources({ declared })).server).toBe('http://127.0.0.1:4567');
  });

  it('reads the file only when there is nothing else, and does without a bad one', async () => {
    const server = await startFakeServer((request) => ({
      status: 200,
      body: request.path.startsWith('/healthz') ? { status: 'ok' } : { object: 'list', data: [] },
    }));
    const { port } = new URL(server.url);
    const text = `version: 1\nserver: { listen: { host: 0.0.0.0, port: ${port} } }\n`;
    await writeFile(join(cwd, 'gateway.yaml'), text);
    const below = join(cwd, 'a');
    await mkdir(below);
    const env = { GATEWAY_API_KEY: 'sk-1' };
    const listed = await runCli(['models', 'list', '--debug'], { cwd: below, env });
    expect([listed.code, listed.stderr]).toEqual([
      0,
      expect.stringContaining(`server http://127.0.0.1:${port} (${join(cwd, 'gateway.yaml')})`),
    ]);
    await writeFile(join(cwd, 'gateway.yaml'), 'version: 2\n');
    expect(await findDeclared({ cwd: below, env }, HERE)).toBeUndefined();
    await server.close();
  });

  it.each([
    'https://elsewhere.example',
    'ftp://127.0.0.1:21',
    'http://user:word@127.0.0.1:1',
    'file:///tmp',
    'http://127.0.0.1.elsewhere.example',
    'no address',
    '',
  ])('is not %j, which a file of the directory says', async (url) => {
    expect(ownUrlOf({ url })).toBeUndefined();
    await localGateway(cwd, url);
    expect(findConnection(sources()).server).toBe(DEFAULT_SERVER);
  });

  it('is never another machine because a file of the directory says so', async () => {
    await localGateway(cwd, 'https://elsewhere.example');
    expect(findConnection(sources()).server).toBe(DEFAULT_SERVER);
    const elsewhere = 'version: 1\nserver: { listen: { host: elsewhere.example, port: 443 } }\n';
    await writeFile(join(cwd, 'gateway.yaml'), elsewhere);
    const declared = await findDeclared({ cwd, env: {} }, HERE);
    expect(declared?.server).toBeUndefined();
    expect(findConnection(sources({ declared })).server).toBe(DEFAULT_SERVER);
  });

  it('prefers flags and environment', async () => {
    await localGateway(cwd);
    await writeFile(join(cwd, 'other.key'), 'sk-file', { mode: 0o600 });
    const env = { GATEWAY_API_KEY: 'sk-env' };
    const named = { server: 'https://gateway.example/base/' };
    expect(findConnection(sources({ ...named, env }))).toMatchObject({
      server: 'https://gateway.example/base',
      apiKey: 'sk-env',
    });
    expect(findConnection(sources({ ...named, env, apiKeyFile: 'other.key' })).apiKey).toBe(
      'sk-file',
    );
  });

  it('never sends the key of the local gateway to a remote server', async () => {
    await localGateway(cwd);
    expect(findConnection(sources({ server: 'https://gateway.example' })).apiKey).toBeUndefined();
    expect(
      findConnection(sources({ server: 'http://127.0.0.1.example.com' })).apiKey,
    ).toBeUndefined();
    expect(findConnection(sources({ server: 'http://localhost:9999' })).apiKey).toBe('sk-local');
  });

  it('says what to do when there is no key', async () => {
    const run = await runCli(['keys', 'list'], { cwd });
    expect(run.code).toBe(4);
    expect(run.stderr).toContain('gateway start');
  });

  it('says what to do when nobody listens', async () => {
    const gone = await startFakeServer(() => undefined);
    await gone.close();
    const env = { GATEWAY_API_KEY: 'sk-x', GATEWAY_SERVER: gone.url };
    const run = await runCli(['keys', 'list'], { cwd, env });
    expect(run.code).toBe(1);
    expect(run.stderr).toContain(`cannot reach ${gone.url}`);
    expect(run.stderr).toContain('gateway start');
  });

  it('refuses a key file that others may read', async () => {
    const path = join(cwd, 'loose.key');
    await writeFile(path, 'sk-x');
    await chmod(path, 0o644);
    expect(() => readKeyFile(path)).toThrow('has mode 0644');
    const run = await runCli(['keys', 'list', '--api-key-file', path, '--json'], { cwd });
    expect(run.code).toBe(4);
    expect(run.json().error).toMatchObject({
      code: 'insecure_key_file',
      hint: `chmod 600 ${path}`,
    });
  });

  it.each(['gateway.example', 'ftp://x', 'http://user:pass@x', ''])(
    'refuses the address %j',
    (server) => {
      expect(() => findConnection(sources({ server }))).toThrow('is not the address of a gateway');
    },
  );

  it(verifies('cli.no-secret-flags', 'offers no flag for the key itself'), async () => {
    expect((await runCli(['keys', 'list', '--api-key', 'sk-x'], { cwd })).code).toBe(64);
  });
});
