import { afterAll, beforeAll, describe } from 'vitest';
import { openStore } from '../../src/store/open-store.ts';
import { storeConformance, type StoreSite } from '../conformance/store.ts';
import { type DatabaseServer, findProgram, startRedis } from './support/database-server.ts';

const program = findProgram('redis-server');
let server: DatabaseServer;
let sites = 0;

describe.skipIf(program === undefined)('on Redis', () => {
  beforeAll(async () => {
    server = await startRedis(program!);
  });
  afterAll(() => server.stop());

  storeConformance('redis', async (clock) => {
    const options = { url: server.url, prefix: `site${++sites}:` };
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
});
