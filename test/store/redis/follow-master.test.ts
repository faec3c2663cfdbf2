import { Redis } from 'ioredis';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { openRedisStore } from '../../../src/store/backends/redis/open-redis-store.ts';
import type { Store } from '../../../src/store/store.ts';
import { eventually } from '../../support/gateway.ts';
import { findProgram, startRedis } from '../support/database-server.ts';

const path = findProgram('redis-server');

/** An address that leads to one server, and later to another one: connections that are open stay. */
async function openAddress(url: string) {
  const address = { url: '', leadsTo: url };
  const server = createServer((near) => {
    const { port, hostname } = new URL(address.leadsTo);
    const far = connect(Number(port), hostname);
    near.on('error', () => undefined).on('close', () => far.destroy());
    far.on('error', () => undefined).on('close', () => near.destroy());
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  address.url = `redis://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return address;
}

async function start() {
  // A replica is sent its copy at once, not after a wait for others.
  const server = await startRedis(path!, ['--repl-diskless-sync-delay', '0']);
  onTestFinished(() => server.stop());
  const admin = new Redis(server.url);
  onTestFinished(() => admin.disconnect());
  return { url: server.url, admin, port: new URL(server.url).port };
}

async function open(url: string): Promise<Store> {
  const store = await openRedisStore({ url }, systemClock);
  onTestFinished(() => store.close());
  return store;
}

const put = (store: Store, value: number) =>
  store.commit([{ type: 'put', key: ['bell'], value }]).then(
    ({ ok }) => (ok ? 'stored' : 'conflict'),
    ({ code }: { code: string }) => code,
  );

describe.skipIf(path === undefined)('a Redis whose replica takes over', () => {
  it('is left for the new master, by writes and by whoever listens', async () => {
    const [former, next] = await Promise.all([start(), start()]);
    const address = await openAddress(former.url);
    const store = await open(address.url);
    expect(await put(store, 1)).toBe('stored');
    await next.admin.replicaof('127.0.0.1', former.port);
    await eventually(async () => (await next.admin.info('replication')).includes('link_status:up'));

    await next.admin.replicaof('NO', 'ONE');
    await former.admin.replicaof('127.0.0.1', next.port);
    address.leadsTo = next.url;
    expect(await put(store, 2)).toBe('read_only');
    await eventually(async () => (await put(store, 3)) === 'stored');
    expect(await next.admin.info('replication')).toContain('role:master');
    expect((await store.get(['bell']))?.value).toBe(3);

    // The former one is gone from what replicates: nothing reaches those who still listen there.
    await former.admin.replicaof('NO', 'ONE');
    const other = await open(next.url);
    let rings = 0;
    store.watch(['bell'], () => rings++);
    await eventually(async () => {
      await put(other, rings);
      return rings > 0;
    });
  });

  it('gives no version again that the former master gave out', async () => {
    const server = await start();
    const store = await open(server.url);
    const version = async () => {
      const result = await store.commit([{ type: 'put', key: ['bell'], value: 0 }]);
      return result.ok ? Number(result.version) : Number.NaN;
    };
    const before = await version();
    expect(await version()).toBe(before + 1);
    await server.admin.client('KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    const after = await eventually(() => version().catch(() => false as const));
    expect(after).toBeGreaterThan(before + 100_000);
    expect(await version()).toBe(after + 1);
  });
});
