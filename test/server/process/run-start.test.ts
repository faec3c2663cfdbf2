import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { runStart } from '../../../src/server/process/run-start.ts';
import type { Served } from '../../../src/server/process/run-start.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { verifies } from '../../requirements.ts';
import { ask, eventually } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

/** As a supervisor starts it. */
const OPTIONS = { watch: false, check: false, env: {}, envFile: true, isTerminal: false };

it('lets go of the store and of signals when it cannot serve', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'gateway-'));
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onTestFinished(async () => {
    taken.close();
    await rm(directory, { recursive: true, force: true });
  });
  const { port } = taken.address() as AddressInfo;
  const path = join(directory, 'store');
  const file = join(directory, 'gateway.yaml');
  const server = {
    listen: { port: 0 },
    metrics: { listen: { host: '127.0.0.1', port } },
    store: { driver: 'fs', path },
  };
  await writeFile(file, JSON.stringify({ version: 1, server }));
  const others = process.listeners('SIGHUP');
  const code = await runStart({
    ...OPTIONS,
    configPaths: [file],
    watch: true,
    cwd: directory,
  });
  expect(code).toBe(1);
  expect(others).toEqual(expect.arrayContaining(process.listeners('SIGHUP')));
  // A store of one process would be refused while the former one holds it.
  const again = await openStore({ driver: 'fs', path }, { clock: systemClock });
  await again.close();
});

it('reloads, once it serves, by a hang-up of while it started', async () => {
  const directory = await directoryOfTest();
  const server = { listen: { port: 0 }, store: { driver: 'memory' } };
  await writeFile(join(directory, 'gateway.yaml'), JSON.stringify({ version: 1, server }));
  const options = { ...OPTIONS, cwd: directory };
  const others = process.listeners('SIGHUP');
  const running = runStart({ ...options, configPaths: ['gateway.yaml'] });
  expect(process.listenerCount('SIGHUP')).toBe(others.length + 1);
  process.emit('SIGHUP');
  const runtime = join(directory, '.gateway', 'runtime.json');
  const isDone = async (): Promise<boolean> =>
    (await readFile(runtime, 'utf8').catch(() => '')).includes('"action":"reload"');
  await eventually(isDone);
  process.emit('SIGTERM');
  expect(await running).toBe(0);
  expect(others).toEqual(expect.arrayContaining(process.listeners('SIGHUP')));
});

it('follows files that are referred to since a reload', async () => {
  const directory = await directoryOfTest();
  const write = (file: string, text: string) => writeFile(join(directory, file), text);
  const configOf = (system: string): string =>
    JSON.stringify({
      version: 1,
      namespace: 'watched',
      server: { listen: { port: 0 }, store: { driver: 'memory' } },
      providers: [{ name: 'mock', type: 'mock' }],
      models: [{ name: 'm/one', routes: [{ provider: 'mock' }] }],
      agents: [{ name: 'helper', model: 'm/one', system }],
    });
  await mkdir(join(directory, 'prompts'));
  await write('gateway.yaml', configOf('begun'));
  let running: Promise<number> | undefined;
  const origin = new Promise<string>((resolve, reject) => {
    const onListening = async ({ url }: Served): Promise<void> => resolve(url);
    const options = { ...OPTIONS, watch: true, cwd: directory, onListening };
    running = runStart({ ...options, configPaths: ['gateway.yaml'] });
    running.then(() => reject(new Error('it did not listen')), reject);
  });
  onTestFinished(async () => {
    process.emit('SIGTERM');
    await running;
  });
  const url = await origin;
  const key = (await readFile(join(directory, '.gateway', 'admin.key'), 'utf8')).trim();
  const isServed = (system: string) =>
    eventually(async () => {
      const { body } = await ask(`${url}/admin/v1/agents`, { key });
      return body.data[0].system === system;
    });
  await isServed('begun');
  await write('prompts/p.txt', 'first');
  await write('gateway.yaml', configOf('${file:prompts/p.txt}'));
  await isServed('first');
  await write('prompts/p.txt', 'second');
  await isServed('second');
});

it(
  verifies(
    'config.env-file',
    'a gateway.yaml that comes later is served, with its .env and changes of it',
  ),
  async () => {
    const directory = await directoryOfTest();
    const write = (file: string, text: string) => writeFile(join(directory, file), text);
    let said = '';
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      said += String(text);
      return true;
    });
    const env = { GATEWAY_PORT: '0', GATEWAY_STORE_DRIVER: 'memory' };
    const options = { ...OPTIONS, env, watch: true, cwd: directory, configPaths: [] };
    const running = runStart(options);
    onTestFinished(async () => {
      process.emit('SIGTERM');
      await running;
      stderr.mockRestore();
    });
    const [, url] = await eventually(() => /listening on (\S+)\n/.exec(said) ?? undefined);
    for (const line of said.trimEnd().split('\n')) expect(line).toMatch(/^\d\d:\d\d:\d\d\./);
    const keyFile = join(directory, '.gateway', 'client.key');
    expect(said).toContain(`the first client key is in ${keyFile}`);
    expect(said).not.toContain('sk-');
    const key = (await readFile(keyFile, 'utf8')).trim();
    const isServed = (model: string) =>
      eventually(async () => (await ask(`${url}/v1/models/${model}`, { key })).status === 200);
    await isServed('mock/echo');
    await write('.env', 'MODEL=m/one\n');
    await write(
      'gateway.yaml',
      [
        'version: 1',
        'server: { listen: { port: 0 }, store: { driver: memory } }',
        'providers: [{ name: mock, type: mock }]',
        'models: [{ name: "${env:MODEL}", routes: [{ provider: mock }] }]',
      ].join('\n'),
    );
    await isServed('m/one');
    const words = 'gateway.yaml is there now and is served in place of the environment';
    await eventually(() => said.includes(words));
    await write('.env', 'MODEL=m/two\n');
    await isServed('m/two');
  },
);

it(
  verifies(
    'secrets.exec',
    'a start and each reload run the commands that the file allowed at the start',
  ),
  async () => {
    const directory = await directoryOfTest();
    const write = (file: string, text: string) => writeFile(join(directory, file), text);
    let said = '';
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      said += String(text);
      return true;
    });
    const configOf = (allowed: string, command: string): string => `version: 1
server:
  listen: { port: 0 }
  store: { driver: memory }
  secrets: { exec: [${allowed}], master_key: '\${secret:exec:sh key.sh master}' }
providers: [{ name: up, type: openai, api_key: '\${secret:exec:${command}}' }]
`;
    await write('key.sh', 'echo $1 >> ran; echo canary-secret-of-many-words-$1; echo canary >&2');
    await write('gateway.yaml', configOf('sh key.sh', 'sh key.sh first'));
    const env = { PATH: process.env['PATH'] };
    const options = { ...OPTIONS, env, cwd: directory, configPaths: ['gateway.yaml'] };
    const ran = async () => (await readFile(join(directory, 'ran'), 'utf8')).trim().split('\n');
    expect(await runStart({ ...options, check: true, allowExec: ['op'] })).toBe(3);
    expect(said).toContain('add "sh key.sh" to server.secrets.exec and start again');
    const running = runStart(options);
    onTestFinished(async () => {
      process.emit('SIGTERM');
      await running;
      stderr.mockRestore();
    });
    await eventually(() => said.includes('listening on'));
    expect((await ran()).sort()).toEqual(['first', 'master']);
    expect(said).toContain('ran sh for ${secret:exec:sh key.sh first}');
    await write('gateway.yaml', configOf('sh key.sh', 'sh key.sh second'));
    process.emit('SIGHUP');
    await eventually(() => said.includes('configuration reloaded'));
    expect((await ran()).at(-1)).toBe('second');
    await write('gateway.yaml', configOf('all', 'printf canary'));
    process.emit('SIGHUP');
    await eventually(() => said.includes('was not reloaded'));
    expect(said).toContain('this command may not run: add "printf canary"');
    expect(said.replaceAll('printf canary', '')).not.toContain('canary');
  },
);
