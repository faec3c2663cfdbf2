import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openStore } from '../../../src/store/open-store.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { findProgram, startRedis } from '../support/database-server.ts';
import type { DatabaseServer } from '../support/database-server.ts';

const program = findProgram('redis-server');

describe.skipIf(program === undefined)('a Redis that may lose what it acknowledged', () => {
  let server: DatabaseServer;
  let admin: Redis;
  beforeAll(async () => {
    server = await startRedis(program!);
    admin = new Redis(server.url);
  });
  afterAll(async () => {
    admin.disconnect();
    // One that writes its first log does not stop when it is asked.
    server.process.kill('SIGKILL');
    await server.stop();
  });

  const open = async (settings: Record<string, string>, options: object = {}) => {
    const before = { appendonly: 'yes', appendfsync: 'always', maxmemory: '0' };
    const all = { ...before, 'maxmemory-policy': 'noeviction', ...settings };
    for (const [name, value] of Object.entries(all)) await admin.config('SET', name, value);
    const given = { url: server.url, prefix: 'durability:', ...options };
    const store = await openStore(
      { driver: 'redis', options: given },
      { clock: createFakeClock() },
    );
    onTestFinished(() => store.close());
    return store.warnings;
  };

  it('is fine when every write is on disk first', async () => {
    expect(await open({})).toEqual([]);
    expect(await open({ maxmemory: '500mb', 'maxmemory-policy': 'volatile-lru' })).toEqual([]);
  });

  it.each([
    ['everysec', /up to a second .*appendfsync everysec.*appendfsync always/],
    ['no', /not written yet .*appendfsync no\)/],
  ])('is told of at the start: appendfsync %s', async (appendfsync, told) => {
    expect(await open({ appendfsync })).toEqual([expect.stringMatching(told)]);
  });

  it(
    verifies('store.durability.ack', 'is refused when it keeps nothing, or throws rows out'),
    async () => {
      const refused = { name: 'StoreError', code: 'read_only' };
      await expect(open({ appendonly: 'no' })).rejects.toMatchObject(refused);
      const evicting = { maxmemory: '500mb', 'maxmemory-policy': 'allkeys-lru' };
      await expect(open(evicting)).rejects.toMatchObject({
        ...refused,
        message: expect.stringMatching(/allkeys-lru.*noeviction/),
      });
      expect(await open(evicting, { allow_volatile: true })).toEqual([]);
    },
  );
});
