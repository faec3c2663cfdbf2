import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { runStart } from '../../../src/server/process/run-start.ts';
import { openStore } from '../../../src/store/open-store.ts';

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
