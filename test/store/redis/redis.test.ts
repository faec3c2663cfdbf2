import { Redis } from 'ioredis';
import { beforeAll, describe, expect, it } from 'vitest';
import { openStore } from '../../../src/store/open-store.ts';
import { openRaw } from '../../../src/store/raw/open-raw.ts';
import { storeConformance, type StoreSite } from '../../conformance/store.ts';
import { verifies } from '../../requirements.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { shareDatabase, type SharedDatabase } from '../../support/servers/share-database.ts';
import { findProgram } from '../support/database-server.ts';

const program = findProgram('redis-server');
let server: SharedDatabase;
let sites = 0;

describe.skipIf(program === undefined)('on Redis', () => {
  beforeAll(async () => {
    server = await shareDatabase('redis');
  });

  storeConformance('redis', async (clock) => {
    const options = { url: server.url, prefix: `${server.name}_${++sites}:` };
    const open = () => openStore({ driver: 'redis', options }, { clock });
    const site: StoreSite = {
      store: await open(),
      async reopen() {
        await site.store.close();
        return (site.store = await open());
      },
    };
    return site;
  });

  it(
    verifies(
      'store.migrations',
      'a store of format 1 is brought forward by one of those that open it, a newer one is left alone',
    ),
    async () => {
      const clock = createFakeClock();
      const config = { driver: 'redis', options: { url: server.url, prefix: 'old:' } };
      const open = () => openStore(config, { clock });
      const made = await open();
      await made.commit([{ type: 'put', key: ['k'], value: 'kept' }]);
      await made.close();
      const redis = new Redis(server.url);
      const content = async () => {
        const keys = (await redis.keys('old:*')).toSorted();
        return Promise.all(keys.map(async (key) => [key, await redis.dumpBuffer(key)]));
      };
      try {
        await redis.del('old:{store}:meta');
        await redis.set('old:{store}:format', 1);
        const opened = await Promise.all([open(), open(), open()]);
        for (const store of opened) expect((await store.get(['k']))?.value).toBe('kept');
        await Promise.all(opened.map((store) => store.close()));
        const raw = await openRaw(config, { clock, isHeld: false });
        expect(raw).toMatchObject({ format: 2, meta: { identity: expect.any(String) } });
        await raw.close();
        await redis.set('old:{store}:format', 99);
        const before = await content();
        const refused = { code: 'newer_format', message: expect.stringMatching(/format 99/) };
        await expect(open()).rejects.toMatchObject(refused);
        await expect(openRaw(config, { clock, isHeld: false })).rejects.toMatchObject(refused);
        expect(await content()).toEqual(before);
      } finally {
        redis.disconnect();
      }
    },
  );
});
