import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../../src/core/time/clock.ts';
import { openRedisStore } from '../../../src/store/backends/redis/open-redis-store.ts';
import { eventually } from '../../support/gateway.ts';
import { shareDatabase } from '../../support/servers/share-database.ts';
import { findProgram } from '../support/database-server.ts';

const path = findProgram('redis-server');

/** The way to a Redis on which the connection of whoever subscribes can break in that moment. */
async function startLine(port: number) {
  const line = { port: 0, breaks: 0, listeners: new Set<Socket>() };
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    near.on('error', () => undefined).on('close', () => far.destroy());
    far.on('error', () => undefined).on('close', () => near.destroy());
    far.pipe(near);
    near.on('data', (bytes: Buffer) => {
      if (!bytes.includes('subscribe')) {
        far.write(bytes);
        return;
      }
      if (line.breaks-- > 0) near.resetAndDestroy();
      else {
        line.listeners.add(near);
        far.write(bytes);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  line.port = (server.address() as AddressInfo).port;
  return line;
}

it.skipIf(path === undefined)(
  'a Redis store subscribes again, however often the connection is lost while it does',
  async () => {
    const { url, name: prefix } = await shareDatabase('redis');
    const { port } = new URL(url);
    const line = await startLine(Number(port));
    const lineUrl = url.replace(port, String(line.port));
    const store = await openRedisStore({ url: lineUrl, prefix }, systemClock);
    const other = await openRedisStore({ url, prefix }, systemClock);
    onTestFinished(async () => void (await Promise.all([store.close(), other.close()])));
    let rings = 0;
    store.watch(['bell'], () => rings++);

    line.breaks = 3;
    for (const socket of line.listeners) socket.resetAndDestroy();
    await eventually(() => line.breaks < 0);
    await eventually(() => rings > 0);
    await eventually(async () => {
      const before = rings;
      await other.commit([{ type: 'put', key: ['bell'], value: before }]);
      return eventually(() => rings > before, 1_000).catch(() => false);
    });
    expect(rings).toBeGreaterThan(1);
  },
);
