import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { runStart } from '../../../src/server/process/run-start.ts';
import type { Served } from '../../../src/server/process/run-start.ts';
import { openStore } from '../../../src/store/open-store.ts';
import { ask, eventually } from '../../support/gateway.ts';
import { directoryOfTest } from '../../support/process/directory-of-test.ts';

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
  const listeners = process.listenerCount('SIGHUP');
  const code = await runStart({
    configPaths: [file],
    watch: true,
    check: false,
    env: {},
    cwd: directory,
  });
  expect(code).toBe(1);
  expect(process.listenerCount('SIGHUP')).toBe(listeners);
  // A store of one process would be refused while the former one holds it.
  const again = await openStore({ driver: 'fs', path }, { clock: systemClock });
  await again.close();
});

it('reloads, once it serves, by a hang-up of while it started', async () => {
  const directory = await directoryOfTest();
  const server = { listen: { port: 0 }, store: { driver: 'memory' } };
  await writeFile(join(directory, 'gateway.yaml'), JSON.stringify({ version: 1, server }));
  const options = { watch: false, check: false, env: {}, cwd: directory };
  const listeners = process.listenerCount('SIGHUP');
  const running = runStart({ ...options, configPaths: ['gateway.yaml'] });
  expect(process.listenerCount('SIGHUP')).toBe(listeners + 1);
  process.emit('SIGHUP');
  const runtime = join(directory, '.gateway', 'runtime.json');
  const isDone = async (): Promise<boolean> =>
    (await readFile(runtime, 'utf8').catch(() => '')).includes('"action":"reload"');
  await eventually(isDone);
  process.emit('SIGTERM');
  expect(await running).toBe(0);
  expect(process.listenerCount('SIGHUP')).toBe(listeners);
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
    const options = { watch: true, check: false, env: {}, cwd: directory, onListening };
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
